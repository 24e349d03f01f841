// Verifies bundles that are given one a line, in the order of the lines, and writes what it found, one a line
// (docs/proof/bundle.md, section 13): the second of two verifiers that a test compares.

import {createInterface} from "node:readline";
import {Fault} from "../../api/pages/static/proof/canonical.js";
import {compareReceipt, readReceipt} from "../../api/pages/static/proof/evidence.js";
import {readKeySet} from "../../api/pages/static/proof/keys.js";
import {readPolicy} from "../../api/pages/static/proof/policies.js";
import {
  findInconsistency,
  isCheckpointSigned,
  readCheckpoint,
  readConsistency,
  verifyBundle,
} from "../../api/pages/static/proof/verify.js";

const bytesOf = (base64) => new Uint8Array(Buffer.from(base64, "base64"));

// Two checkpoints and the proof that the log of one continues that of the other (section 11).
async function verifyCheckpoints({earlier, later, proof, keys}) {
  const trusted = keys === null ? null : await readKeySet(keys);
  const proved = [];
  let step;
  try {
    const read = [];
    for (const [name, packed] of Object.entries({earlier, later})) {
      step = name;
      const checkpoint = await readCheckpoint(bytesOf(packed));
      read.push(checkpoint);
      if (!trusted) continue;
      const key = trusted.get(checkpoint.key);
      if (!key) throw new Fault(step, "key", "it is not given");
      if (!(await isCheckpointSigned(checkpoint, key))) throw new Fault(step, "signature", "it is not valid");
      proved.push(step);
    }
    step = "consistency";
    const place = await findInconsistency(...read, await readConsistency(bytesOf(proof)));
    if (place) throw new Fault(step, place, "the log was not continued");
    return {proved: [...proved, step], fault: null};
  } catch (error) {
    if (error instanceof Fault) return {proved, fault: {step, place: error.place}};
    throw error;
  }
}

// A receipt and a bundle (docs/proof/receipts.md, section 7).
async function verifyReceipt({bundle, keys, receipt}) {
  try {
    const read = await readReceipt(bytesOf(receipt), await readKeySet(keys));
    return {comparison: compareReceipt(read, JSON.parse(Buffer.from(bundle, "base64")))};
  } catch (error) {
    if (error instanceof Fault) return {fault: error.place};
    throw error;
  }
}

async function verify(given) {
  if ("earlier" in given) return verifyCheckpoints(given);
  const {bundle, keys, policy} = given;
  const trusted = {
    keys: keys === null ? null : await readKeySet(keys),
    policy: policy === null ? null : await readPolicy(policy),
  };
  return verifyBundle(bytesOf(bundle), trusted);
}

async function answer(given) {
  if ("receipt" in given) return verifyReceipt(given);
  const {proved, fault} = await verify(given).catch((error) => {
    if (error instanceof Fault) return {proved: [], fault: error};
    throw error;
  });
  return {proved, fault: fault && {step: fault.step, place: fault.place}};
}

for await (const line of createInterface({input: process.stdin})) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
