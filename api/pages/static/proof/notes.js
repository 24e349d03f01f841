// Signed notes, tree heads and cosignatures (C2SP: signed-note, tlog-checkpoint, tlog-cosignature).

import {areEqual, bytesOfBase64, isEd25519Key, isSignedBy, joined, sha256, utf8} from "./hashes.js";

export const ED25519 = 1; // the type of a key that signs notes as they are
export const COSIGNER = 4; // of a key that signs them with an instant
const KEY_HASH_BYTES = 4;
const MAX_NOTE_BYTES = 131_072;
const MAX_SIGNATURES = 100;
const MAX_VKEY_LETTERS = 500;
const MAX_SECONDS = 2n ** 63n - 1n;
// Not \S: that excludes U+FEFF and admits U+0085, of which Unicode says the opposite.
const SIGNATURE = /^\u2014 (\P{White_Space}+) (\P{White_Space}+)$/u;
const DECIMAL = /^(?:0|[1-9][0-9]*)$/;

// Returns {text, signatures: [{name, keyHash, bytes}]} of a signed note; null for any other text. `text` ends with a line
// feed.
export function parseNote(note) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note has no control characters but line feeds
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.isWellFormed()) return null;
  if (utf8(note).length > MAX_NOTE_BYTES) return null;
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n")) return null;
  const lines = note.slice(end + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) return null;
  const signatures = lines.map(parseSignature);
  return signatures.includes(null) ? null : {text: note.slice(0, end + 1), signatures};
}

function parseSignature(line) {
  const [, name, encoded] = SIGNATURE.exec(line) ?? [];
  const bytes = encoded === undefined || name.includes("+") ? null : bytesOfBase64(encoded);
  if (!bytes || bytes.length <= KEY_HASH_BYTES) return null;
  return {name, keyHash: bytes.subarray(0, KEY_HASH_BYTES), bytes: bytes.subarray(KEY_HASH_BYTES)};
}

// Returns {origin, size, root, text, signatures} of a signed note whose text is a tree head; null for any other text.
export function parseTreeHead(note) {
  const parsed = parseNote(note);
  if (!parsed) return null;
  const [origin, size, encoded, ...extensions] = parsed.text.slice(0, -1).split("\n");
  const root = encoded === undefined ? null : bytesOfBase64(encoded);
  if (!origin || !DECIMAL.test(size) || !Number.isSafeInteger(Number(size)) || root?.length !== 32) return null;
  return extensions.includes("") ? null : {origin, size: Number(size), root, ...parsed};
}

// Returns {name, keyHash, type, bytes} of a verifier key (vkey); null for any other text.
export async function parseVkey(vkey) {
  const [, name, hash, encoded] = /^([^\p{White_Space}+]+)\+([0-9a-f]{8})\+(\P{White_Space}+)$/u.exec(vkey) ?? [];
  const typed = encoded === undefined ? null : bytesOfBase64(encoded);
  if (!typed || !isEd25519Key(typed.subarray(1)) || [...vkey].length > MAX_VKEY_LETTERS) return null;
  const digest = await sha256(joined(utf8(`${name}\n`), typed));
  const keyHash = digest.subarray(0, KEY_HASH_BYTES);
  const stated = Uint8Array.from(hash.match(/../g), (digits) => Number.parseInt(digits, 16));
  return areEqual(keyHash, stated) ? {name, keyHash, type: typed[0], bytes: typed.subarray(1)} : null;
}

// Returns the signatures of a note that belong to a key by its name and id, valid or not.
export function signaturesOf(key, {signatures}) {
  return signatures
    .filter(({name, keyHash}) => name === key.name && areEqual(keyHash, key.keyHash))
    .map(({bytes}) => bytes);
}

// Whether a signature of a text was made with a key; that of a cosigner covers its instant too.
export async function verifySignature(key, text, bytes) {
  if (key.type === ED25519) return bytes.length === 64 && isSignedBy(key.bytes, bytes, utf8(text));
  if (key.type !== COSIGNER || bytes.length !== 72) return false;
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  if (seconds > MAX_SECONDS) return false;
  return isSignedBy(key.bytes, bytes.subarray(8), utf8(`cosignature/v1\ntime ${seconds}\n${text}`));
}

// The instant (seconds since 1970) of a valid cosignature.
export function timeOfCosignature(bytes) {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0));
}
