// Verifies bundles that are given one a line, in the order of the lines, and writes what it found, one a line
// (docs/proof/bundle.md, section 13): the second of two verifiers that a test compares.

import {createInterface} from "node:readline";
import {Fault} from "../../api/pages/static/proof/canonical.js";
import {readKeySet} from "../../api/pages/static/proof/keys.js";
import {readPolicy} from "../../api/pages/static/proof/policies.js";
import {verifyBundle} from "../../api/pages/static/proof/verify.js";

async function verify({bundle, keys, policy}) {
  const trusted = {
    keys: keys === null ? null : await readKeySet(keys),
    policy: policy === null ? null : await readPolicy(policy),
  };
  return verifyBundle(new Uint8Array(Buffer.from(bundle, "base64")), trusted);
}

for await (const line of createInterface({input: process.stdin})) {
  const {proved, fault} = await verify(JSON.parse(line)).catch((error) => {
    if (error instanceof Fault) return {proved: [], fault: error};
    throw error;
  });
  console.log(JSON.stringify({proved, fault: fault && {step: fault.step, place: fault.place}}));
}
