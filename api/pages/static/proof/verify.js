// The verification of a bundle without the rules of its game, written from docs/proof/bundle.md alone.

import {canonical, canonicalWithPauses, Fault, readDocument} from "./canonical.js";
import {bytesOfHex, hexOf, joined, sha256Hex, utf8} from "./hashes.js";
import {hasSigned, isInUse} from "./keys.js";
import {hashLeaf, isContinued, rootOfInclusion} from "./merkle.js";
import {parseTreeHead} from "./notes.js";
import {paused} from "./pauses.js";
import {checkSignedActs, hasSignedActs} from "./player-keys.js";
import {checkCosigned} from "./policies.js";
import {BUNDLE, CHECKPOINT, CONSISTENCY, checkShape, EVENT} from "./shapes.js";
import {checkTournament, isTournament} from "./tournament.js";

const MAX_BUNDLE_BYTES = 16_777_216;
const MAX_CHECKPOINT_BYTES = 16_384;
const EVENTS_AT_ONCE = 256; // digests that are computed at the same time
const SEEDED = ["match-created", "seed-drawn"]; // types of events whose seed may be withheld
const NO_ED25519 = "this browser cannot check Ed25519 signatures";
const EMPTY_ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Verifies the bytes of a bundle. `keys` are those of a key set by id, or null: none are given; without `ed25519` the
// browser cannot check signatures, and none is called proved. `policy` is one of witnesses, or null. `progress` is told
// shares of the work.
//
// Returns {proved, unproved, fault, bundle, acts, witnesses}: the names of the steps that are proved, in order; by the name of a
// step why it is not proved; the first fault or null; the value of the bundle if it is well-formed; the signed acts; who has cosigned.
export async function verifyBundle(bytes, {keys = null, policy = null, ed25519 = true, progress = () => {}}) {
  const report = {proved: [], unproved: new Map(), fault: null, bundle: null, acts: [], witnesses: []};
  const take = async (step, check) => {
    const reason = await check(report.bundle);
    if (reason) report.unproved.set(step, reason);
    else report.proved.push(step);
  };
  try {
    await take("well-formed", async () => {
      const bundle = await readDocument(bytes, MAX_BUNDLE_BYTES);
      await checkMembers(bundle);
      checkWithheld(bundle.events);
      report.bundle = bundle;
    });
    await take("chain", (bundle) => checkChain(bundle, progress));
    await take("signature", (bundle) => checkSignature(bundle, keys, ed25519));
    if (isTournament(report.bundle)) await take("tournament", checkTournament);
    if (hasSignedActs(report.bundle))
      await take("player keys", async (bundle) => {
        report.acts = await checkSignedActs(bundle);
        return "";
      });
    await take("checkpoint", (bundle) => checkInclusion(bundle, keys, ed25519));
    if (policy)
      await take("cosigned", async (bundle) => {
        if (!ed25519) return NO_ED25519;
        const {reason, witnesses} = await checkCosigned(bundle, policy);
        report.witnesses = witnesses;
        return reason;
      });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    report.fault = {step: error.step, place: error.place, reason: error.message};
  }
  return report;
}

// Events, nearly all of a bundle, stand first in it: they are checked one by one, with pauses, and then the rest.
async function checkMembers(bundle) {
  const {events} = bundle;
  if (Object.keys(bundle)[0] !== "events" || !Array.isArray(events)) return checkShape(BUNDLE, bundle, "");
  for (const [index, event] of events.entries()) {
    checkShape(EVENT, event, `events[${index}]`);
    await paused();
  }
  checkShape(BUNDLE, {...bundle, events: []}, "");
}

function checkWithheld(events) {
  if (!events.length) throw new Fault("well-formed", "events", "a match has at least one event");
  const last = events.findLastIndex((event) => SEEDED.includes(event.type));
  for (const [index, event] of events.entries()) {
    if (!event.withheld) continue;
    const isAllowed = index === last && event.withheld.length === 1 && event.withheld[0] === "seed";
    if (!isAllowed || Object.hasOwn(event.data, "seed"))
      throw new Fault("well-formed", `events[${index}].withheld`, "this may not be withheld");
  }
}

// Section 4.1. Each digest is computed from the one stated before it, so that many can be computed at the same time.
async function checkChain({events, head, match}, progress) {
  const stream = canonical(match);
  let before = "0".repeat(64);
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const group = events.slice(start, start + EVENTS_AT_ONCE);
    const digests = group.map((event, place) => {
      const previous = place ? group[place - 1].digest : before;
      return event.withheld
        ? event.digest
        : sha256Hex(joined(bytesOfHex(previous), utf8(canonicalEvent(event, stream))));
    });
    const computed = await Promise.all(digests);
    for (const [place, event] of group.entries()) {
      const where = `events[${start + place}]`;
      if (event.version !== start + place + 1) throw new Fault("chain", where, "the versions do not count up from 1");
      if (event.digest !== computed[place])
        throw new Fault("chain", where, "the event or one before it was changed: its digest is another one");
    }
    before = group.at(-1).digest;
    progress((start + group.length) / events.length);
    await paused();
  }
  if (head.version !== events.at(-1).version)
    throw new Fault("chain", "head.version", "the last event has another version");
  if (head.digest !== events.at(-1).digest)
    throw new Fault("chain", "head.digest", "the last event has another digest");
}

function canonicalEvent({actor, at, data, schema, type, version}, stream) {
  return (
    `{"actor":${canonical(actor)},"at":${at},"data":${canonical(data)},"schema":${schema},` +
    `"stream":${stream},"type":${canonical(type)},"version":${version}}`
  );
}

// Section 5.2. Returns why the signature is not proved.
async function checkSignature(bundle, keys, ed25519) {
  const {signature, head, match} = bundle;
  const included = await sha256Hex(utf8(bundle.inclusion ? canonical(bundle.inclusion) : "null"));
  if (included !== signature.inclusion) await findWhatChanged(bundle, keys, ed25519);
  if (!keys) return "no keys were given";
  const key = keys.get(signature.key);
  if (!key) throw new Fault("signature", "signature.key", "none of the given keys has this id");
  if (!ed25519) return NO_ED25519;
  const {signature: _signed, inclusion: _included, ...content} = bundle;
  const statement = {
    content: await sha256Hex(utf8(await canonicalWithPauses(content))),
    digest: head.digest,
    inclusion: signature.inclusion,
    match,
    signed_at: signature.signed_at,
    version: head.version,
  };
  if (!(await hasSigned(key, signature.value, signedBytes("rookery bundle 1", statement))))
    throw new Fault("signature", "signature", "the signature is not that of the key over this bundle");
  if (!isInUse(key, signature.signed_at))
    throw new Fault("signature", "signature", "the key was not in use then, or what it signed then is revoked");
  return "";
}

async function findWhatChanged(bundle, keys, ed25519) {
  try {
    await checkInclusion(bundle, keys, ed25519);
  } catch (error) {
    if (error instanceof Fault) throw new Fault("signature", error.place, error.message);
    throw error;
  }
  throw new Fault("signature", "inclusion", "the proof of inclusion is not the one that was signed");
}

// Section 7.3. Returns why the checkpoint is not proved.
async function checkInclusion({inclusion, match, events, head}, keys, ed25519) {
  if (!inclusion) return "the bundle has no proof that a checkpoint includes it";
  const refuse = (member, reason) => {
    throw new Fault("checkpoint", `inclusion.${member}`, reason);
  };
  const {checkpoint, version, leaf, note} = inclusion;
  if (version < 1 || version > head.version) refuse("version", "the match has no such version");
  if (checkpoint.format !== 1) refuse("checkpoint.format", "this page knows format 1 only");
  const entry = await leafOf({digest: events[version - 1].digest, match, version});
  const path = inclusion.path.map(bytesOfHex);
  const root = await rootOfInclusion(leaf, checkpoint.size, await hashLeaf(entry), path);
  if (!root || hexOf(root) !== checkpoint.root) refuse("path", "it does not lead from the match to the checkpoint");
  if (note !== undefined) {
    const head_ = parseTreeHead(note);
    if (head_?.size !== checkpoint.size || hexOf(head_.root) !== checkpoint.root)
      refuse("note", "it is not the same checkpoint");
  }
  if (!keys) return "no keys were given";
  const key = keys.get(checkpoint.key);
  if (!key) refuse("checkpoint.key", "none of the given keys has this id");
  if (!ed25519) return NO_ED25519;
  if (!(await isCheckpointSigned(checkpoint, key))) refuse("checkpoint.signature", "the signature is not valid");
  return "";
}

async function leafOf(head) {
  const commitment = await sha256Hex(utf8(canonical(head)));
  return utf8(canonical({commitment, form: 1, kind: "match"}));
}

export async function isCheckpointSigned(checkpoint, key) {
  const {format: _format, key: _key, signature, ...statement} = checkpoint;
  const isSigned = await hasSigned(key, signature, signedBytes("rookery checkpoint 1", statement));
  return isSigned && isInUse(key, checkpoint.signed_at);
}

export function signedBytes(domain, statement) {
  return utf8(`${domain}\n${canonical(statement)}`);
}

// Returns the value of a checkpoint that stands alone; throws a Fault.
export async function readCheckpoint(bytes) {
  const checkpoint = await readDocument(bytes, MAX_CHECKPOINT_BYTES);
  checkShape(CHECKPOINT, checkpoint, "");
  return checkpoint;
}

// Returns the value of a proof of consistency; throws a Fault.
export async function readConsistency(bytes) {
  const proof = await readDocument(bytes, MAX_CHECKPOINT_BYTES);
  checkShape(CONSISTENCY, proof, "");
  return proof;
}

// Section 11. Returns the place of the first thing that shows that the log of `newer` does not continue that of `older`;
// empty if it does.
export async function findInconsistency(older, newer, proof) {
  if (older.origin !== newer.origin) return "origin";
  if (proof.sizes.length !== 2 || proof.sizes[0] !== older.size || proof.sizes[1] !== newer.size) return "sizes";
  if (older.size === 0 && newer.size > 0 && older.root !== EMPTY_ROOT) return "path";
  const [first, second] = [older, newer].map(({size, root}) => ({size, root: bytesOfHex(root)}));
  return (await isContinued(first, second, proof.path.map(bytesOfHex))) ? "" : "path";
}
