// Policies of witnesses, and the step "cosigned" (docs/proof/witnesses.md, sections 2 and 3).

import {Fault} from "./canonical.js";
import {areEqual, utf8} from "./hashes.js";
import {
  COSIGNER,
  ED25519,
  parseTreeHead,
  parseVkey,
  signaturesOf,
  timeOfCosignature,
  verifySignature,
} from "./notes.js";

const MAX_POLICY_BYTES = 65_536;
const MAX_NAMES = 256; // of witnesses and groups together
const NONE = "none";
// biome-ignore lint/suspicious/noControlCharactersInRegex: a policy has no control characters but tabs and line feeds
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

// Returns {logs, witnesses, groups, quorum} of a policy; throws a Fault of the step "policy".
export async function readPolicy(text) {
  if (utf8(text).length > MAX_POLICY_BYTES) throw new Fault("policy", "", `it has more than ${MAX_POLICY_BYTES} bytes`);
  const policy = {logs: [], witnesses: new Map(), groups: new Map(), quorum: null};
  const members = new Set(); // of any group
  for (const [index, line] of text.split("\n").entries()) {
    try {
      if (CONTROL.test(line)) throw new Error("it has a control character");
      const words = line.split(/[ \t]+/).filter(Boolean);
      if (words.length && !words[0].startsWith("#")) await readLine(policy, members, words);
    } catch (error) {
      throw new Fault("policy", `line ${index + 1}`, error.message);
    }
  }
  if (policy.quorum === null) throw new Fault("policy", "", "there is no quorum");
  return policy;
}

async function readLine(policy, members, [keyword, ...words]) {
  const {logs, witnesses, groups} = policy;
  const isDefined = (name) => witnesses.has(name) || groups.has(name);
  const define = (name) => {
    if (name === NONE || isDefined(name) || witnesses.size + groups.size >= MAX_NAMES)
      throw new Error(`the name ${name} cannot be defined here`);
    return name;
  };
  if (keyword === "log" && (words.length === 1 || words.length === 2)) {
    logs.push(await readKey(words[0], ED25519, logs));
  } else if (keyword === "witness" && (words.length === 2 || words.length === 3)) {
    witnesses.set(define(words[0]), await readKey(words[1], COSIGNER, [...witnesses.values()]));
  } else if (keyword === "group" && words.length >= 3) {
    const [name, count, ...names] = words;
    for (const member of names) {
      if (!isDefined(member) || members.has(member)) throw new Error(`${member} cannot be a member`);
      members.add(member);
    }
    groups.set(define(name), {members: names, count: countOf(count, names.length)});
  } else if (keyword === "quorum" && words.length === 1) {
    if (policy.quorum !== null) throw new Error("there is a quorum already");
    if (words[0] !== NONE && !isDefined(words[0])) throw new Error(`there is no ${words[0]}`);
    policy.quorum = words[0];
  } else throw new Error("it is not a line of a policy");
}

async function readKey(vkey, type, others) {
  const key = await parseVkey(vkey);
  if (key?.type !== type) throw new Error(`${vkey} is not a key of this kind`);
  if (others.some((other) => areEqual(other.bytes, key.bytes))) throw new Error("the key stands twice");
  return key;
}

function countOf(word, members) {
  if (word === "any") return 1;
  if (word === "all") return members;
  const count = /^[1-9][0-9]*$/.test(word) ? Number(word) : 0;
  if (count < 1 || count > members) throw new Error("it asks for another number of members than it has");
  return count;
}

// Returns {reason, witnesses}: why the checkpoint of a bundle is not cosigned (empty if it is), and the names and instants
// (seconds since 1970) of those who have. Throws a Fault of the step "cosigned".
export async function checkCosigned({inclusion}, policy) {
  if (!inclusion?.note)
    return {reason: "the bundle has no checkpoint that witnesses could have cosigned", witnesses: []};
  if (!policy.logs.length) return {reason: "the policy names no log", witnesses: []};
  const note = parseTreeHead(inclusion.note);
  if (!(await isSignedByAny(policy.logs, note)))
    throw new Fault("cosigned", "inclusion.note", "no log of the policy has signed the checkpoint");
  const witnesses = [];
  for (const [name, key] of policy.witnesses) {
    const made = signaturesOf(key, note);
    for (const signature of made)
      if (!(await verifySignature(key, note.text, signature)))
        throw new Fault("cosigned", "inclusion.note", `the cosignature of ${name} is not valid`);
    if (made.length) witnesses.push({name, seconds: timeOfCosignature(made[0])});
  }
  const cosigned = new Set(witnesses.map(({name}) => name));
  const reason = hasCosigned(policy, policy.quorum, cosigned)
    ? ""
    : "fewer witnesses have cosigned than the policy demands";
  return {reason, witnesses};
}

async function isSignedByAny(logs, note) {
  for (const log of logs) {
    if (log.name !== note.origin) continue; // a second log under the name of the first could tell a second story
    const made = signaturesOf(log, note);
    const valid = await Promise.all(made.map((signature) => verifySignature(log, note.text, signature)));
    if (made.length && valid.every(Boolean)) return true;
  }
  return false;
}

function hasCosigned(policy, name, cosigned) {
  if (name === NONE || cosigned.has(name)) return true;
  const group = policy.groups.get(name);
  return (
    group !== undefined && group.members.filter((member) => hasCosigned(policy, member, cosigned)).length >= group.count
  );
}
