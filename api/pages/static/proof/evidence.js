// What a reader has kept beside a bundle, receipts and checkpoints: whether the bundle agrees with it.

import {Fault, readDocument} from "./canonical.js";
import {hasSigned, isInUse} from "./keys.js";
import {checkShape, RECEIPT} from "./shapes.js";
import {findInconsistency, isCheckpointSigned, readCheckpoint, readConsistency, signedBytes} from "./verify.js";

const MAX_RECEIPT_BYTES = 4096;
const MAX_CLOCK_DIFFERENCE_MS = 4000; // by which the instants of two signatures may be out of order

// A judgement is {state, text}: "proved", "fault" when the server has told two stories, "unproved", or "unchecked".
const judged = (state, text) => ({state, text});

// Judges a receipt (docs/proof/receipts.md) by a bundle without a fault.
export async function judgeReceipt(bytes, bundle, keys, ed25519) {
  let receipt;
  try {
    receipt = await readDocument(bytes, MAX_RECEIPT_BYTES);
    checkShape(RECEIPT, receipt, "");
    if (receipt.version < 1) throw new Fault("well-formed", "version", "versions begin with 1");
  } catch (error) {
    if (error instanceof Fault)
      return judged("unproved", `It is no receipt: ${error.place || "the file"}: ${error.message}.`);
    throw error;
  }
  const {digest, installation, match, signed_at, version} = receipt;
  if (match !== bundle.match) return judged("unchecked", `It is about another match, ${match}.`);
  const key = keys?.get(receipt.key);
  if (!key) return judged("unproved", "None of the given keys has signed it.");
  if (!ed25519) return judged("unproved", "This browser cannot check Ed25519 signatures.");
  const message = signedBytes("rookery receipt 1", {digest, installation, match, signed_at, version});
  if (!(await hasSigned(key, receipt.signature, message)) || !isInUse(key, signed_at))
    return judged("unproved", "Its signature is not valid: it proves nothing.");
  const event = bundle.events[version - 1];
  if (event?.digest === digest)
    return judged("proved", `The bundle contains what the server acknowledged as event ${version}.`);
  if (event)
    return judged(
      "fault",
      `The server has told two stories: it acknowledged another event ${version}, or others before it.`,
    );
  if (bundle.signature.signed_at <= signed_at + MAX_CLOCK_DIFFERENCE_MS)
    return judged("unproved", `The bundle is older than the receipt and ends before event ${version}.`);
  return judged(
    "fault",
    `The server has told two stories: it acknowledged event ${version}, and signed a later bundle without it.`,
  );
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
