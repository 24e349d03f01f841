// Verifies bundles that are given one a line, in the order of the lines, and writes what it found, one a line
// (docs/proof/bundle.md, section 13): the second of two verifiers that a test compares.

import {createInterface} from "node:readline";
import {readKeySet} from "../../api/pages/static/proof/keys.js";
import {verifyBundle} from "../../api/pages/static/proof/verify.js";

for await (const line of createInterface({input: process.stdin})) {
  const {bundle, keys} = JSON.parse(line);
  const given = keys === null || keys === undefined ? null : await readKeySet(keys);
  const {proved, fault} = await verifyBundle(new Uint8Array(Buffer.from(bundle, "base64")), {keys: given});
  console.log(JSON.stringify({proved, fault: fault && {step: fault.step, place: fault.place}}));
}
