// The kind of a file, told from its content.

import {utf8} from "./hashes.js";

const MAX_COPY_LENGTH = 10_000; // characters; a receipt has about half a thousand

export const KINDS = {
  bundle: "bundle of a match",
  keys: "key set",
  checkpoint: "checkpoint",
  consistency: "proof of consistency",
  receipt: "receipt",
  policy: "policy of witnesses",
  unknown: "not recognised",
};

// Returns {kind, bytes, text, value}: `text` of texts, `value` of JSON; of an unknown file `reason` says why.
export function recognise(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch {
    return {kind: "unknown", bytes, reason: "it is not a text in UTF-8"};
  }
  if (text.startsWith('{"events":[')) return {kind: "bundle", bytes}; // it may be long: the verification reads it
  if (/^\s*(?:#[^\n]*\n\s*)*(?:log|witness|group|quorum)\s/.test(text)) return {kind: "policy", bytes, text};
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    const receipt = readCopiedReceipt(text);
    if (receipt) return receipt;
    const meant = /^\s*\{.{0,100}"(?:events|actor)"/s.test(text);
    return meant ? {kind: "bundle", bytes, text} : {kind: "unknown", bytes, text, reason: "it is not valid JSON"};
  }
  const kind = kindOfValue(value);
  if (value?.receipt && kindOfValue(value.receipt).kind === "receipt")
    return readCopiedReceipt(JSON.stringify(value.receipt));
  return {...kind, bytes, text, value};
}

// A receipt may have been copied out of a mail, with other line breaks and marks of quoting (docs/proof/receipts.md,
// "Copies").
function readCopiedReceipt(text) {
  if (text.length > MAX_COPY_LENGTH) return null;
  try {
    const value = JSON.parse(text.replace(/[ \t\r\n|>]/g, ""));
    return kindOfValue(value).kind === "receipt" ? {kind: "receipt", bytes: utf8(text)} : null;
  } catch {
    return null;
  }
}

function kindOfValue(value) {
  const has = (...names) => names.every((name) => Object.hasOwn(value, name));
  if (value === null || typeof value !== "object" || Array.isArray(value))
    return {kind: "unknown", reason: "it is not a JSON object"};
  if (has("events")) return {kind: "bundle"};
  if (has("keys")) return {kind: "keys"};
  if (has("root", "size", "signature")) return {kind: "checkpoint"};
  if (has("path", "sizes")) return {kind: "consistency"};
  if (has("installation", "match", "signature")) return {kind: "receipt"};
  return {kind: "unknown", reason: "it has none of the forms that this page knows"};
}
