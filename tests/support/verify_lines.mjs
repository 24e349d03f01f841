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

// A key set is given as its value, or, where that could not be read, as its bytes.
const readKeys = (keys) =>
  keys === null
    ? null
    : readKeySet(typeof keys === "string" ? bytesOf(keys) : new TextEncoder().encode(JSON.stringify(keys)));

// Two checkpoints and the proof that the log of one continues that of the other (section 11).
async function verifyCheckpoints({earlier, later, proof, keys}) {
  const trusted = await readKeys(keys);
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
    const trusted = await readKeys(keys);
    const read = await readReceipt(bytesOf(receipt), trusted);
    const report = await verifyBundle(bytesOf(bundle), {keys: trusted});
    return report.fault ? {bundle: placeOf(report.fault)} : {comparison: compareReceipt(read, report.bundle)};
  } catch (error) {
    if (error instanceof Fault) return {fault: error.place};
    throw error;
  }
}

async function verify(given) {
  if ("earlier" in given) return verifyCheckpoints(given);
  const {bundle, keys, policy} = given;
  const trusted = {
    keys: await readKeys(keys),
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
  return {proved, fault: fault && placeOf(fault)};
}

const placeOf = ({step, place}) => ({step, place});

for await (const line of createInterface({input: process.stdin})) {
  // A crash is no verdict: the comparison names it.
  console.log(JSON.stringify(await answer(JSON.parse(line)).catch((error) => ({crash: String(error.stack)}))));
}
