// Receipts and checkpoints that a reader has kept beside a bundle: whether the bundle agrees with them.

import {Fault, readDocument} from "./canonical.js";
import {joined, utf8} from "./hashes.js";
import {hasSigned, isInUse} from "./keys.js";
import {checkShape, RECEIPT} from "./shapes.js";
import {findInconsistency, isCheckpointSigned, readCheckpoint, readConsistency, signedBytes} from "./verify.js";

const MAX_RECEIPT_BYTES = 4096;
const MAX_CLOCK_DIFFERENCE_MS = 4000; // by which the instants of two signatures may be out of order

const LEFT_OUT = new Set(utf8(" \t\r\n|>"));
const LINE_FEED = utf8("\n");

// A judgement is {state, text}: "proved", "fault" when the server has told two stories, "unproved", or "unchecked".
const judged = (state, text) => ({state, text});

// Returns the value of a receipt (docs/proof/receipts.md, section 4), whose signature is checked if there are keys; throws
// a Fault. Spaces, line breaks and marks of quoting are left out: it may have been copied out of a mail.
export async function readReceipt(bytes, keys) {
  if (bytes.length > MAX_RECEIPT_BYTES)
    throw new Fault("well-formed", "", `it has more than ${MAX_RECEIPT_BYTES} bytes`);
  const kept = bytes.filter((byte) => !LEFT_OUT.has(byte));
  const receipt = await readDocument(joined(kept, LINE_FEED), MAX_RECEIPT_BYTES + 1);
  checkShape(RECEIPT, receipt, "");
  if (receipt.version < 1) throw new Fault("well-formed", "version", "versions begin with 1");
  if (!keys) return receipt;
  const key = keys.get(receipt.key);
  if (!key) throw new Fault("signature", "key", "none of the given keys has signed it");
  const {format: _format, key: _key, signature, ...statement} = receipt;
  const isSigned = await hasSigned(key, signature, signedBytes("rookery receipt 1", statement));
  if (!isSigned || !isInUse(key, receipt.signed_at))
    throw new Fault("signature", "signature", "its signature is not valid: it proves nothing");
  return receipt;
}

// Returns the verdict of a bundle without a fault on a receipt: "contained", "contradicted" (another digest at that
// version), "missing" (left out of a later bundle) or "earlier" (nothing follows). Throws a Fault when they are of two
// matches.
export function compareReceipt({digest, match, signed_at, version}, bundle) {
  if (match !== bundle.match) throw new Fault("comparison", "match", `it is about another match, ${match}`);
  const event = bundle.events[version - 1];
  if (event) return event.digest === digest ? "contained" : "contradicted";
  return bundle.signature.signed_at > signed_at + MAX_CLOCK_DIFFERENCE_MS ? "missing" : "earlier";
}

const COMPARISONS = {
  contained: ["proved", (version) => `The bundle contains what the server acknowledged as event ${version}.`],
  contradicted: [
    "fault",
    (version) => `The server has told two stories: it acknowledged another event ${version}, or others before it.`,
  ],
  missing: [
    "fault",
    (version) =>
      `The server has told two stories: it acknowledged event ${version}, and signed a later bundle without it.`,
  ],
  earlier: ["unproved", (version) => `The bundle ends before event ${version} and may be older: get a newer one.`],
};

// Judges a receipt by a bundle without a fault.
export async function judgeReceipt(bytes, bundle, keys, ed25519) {
  if (!keys || !ed25519) return judged("unproved", "Its signature cannot be checked.");
  try {
    const receipt = await readReceipt(bytes, keys);
    const [state, words] = COMPARISONS[compareReceipt(receipt, bundle)];
    return judged(state, words(receipt.version));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return judged(
      error.step === "comparison" ? "unchecked" : "unproved",
      `${error.place || "The file"}: ${error.message}.`,
    );
  }
}

// Judges a checkpoint that was kept by the one in the bundle, with the proofs of consistency that were given.
export async function judgeCheckpoint(bytes, proofs, bundle, keys, ed25519) {
  const current = bundle.inclusion?.checkpoint;
  if (!current) return judged("unproved", "The bundle has no checkpoint to compare it with.");
  try {
    const kept = await readCheckpoint(bytes);
    if (kept.origin !== current.origin) return judged("unchecked", "It is of another installation.");
    const key = keys?.get(kept.key);
    if (!key) return judged("unproved", "None of the given keys has signed it.");
    if (!ed25519) return judged("unproved", "This browser cannot check Ed25519 signatures.");
    if (!(await isCheckpointSigned(kept, key)))
      return judged("unproved", "Its signature is not valid: it proves nothing.");
    return await compare(kept, current, proofs);
  } catch (error) {
    if (error instanceof Fault) return judged("unproved", `${error.place || "The file"}: ${error.message}.`);
    throw error;
  }
}

async function compare(kept, current, proofs) {
  const [older, newer] = kept.size <= current.size ? [kept, current] : [current, kept];
  if (older.size === newer.size)
    return older.root === newer.root
      ? judged("proved", "It is of the same log as the checkpoint of the bundle.")
      : judged("fault", "The server has told two stories: two logs of the same size differ.");
  for (const bytes of proofs) {
    const proof = await readConsistency(bytes);
    const place = await findInconsistency(older, newer, proof);
    if (place === "") return judged("proved", `The log of ${newer.size} entries continues that of ${older.size}.`);
    if (place === "path")
      return judged("unproved", "The proof of consistency does not lead from one checkpoint to the other.");
  }
  const query = `first=${older.size}&second=${newer.size}`;
  return judged(
    "unproved",
    `Add the proof that one continues the other: /api/v1/checkpoints/consistency?${query}. If the server has none, it has told two stories.`,
  );
}
