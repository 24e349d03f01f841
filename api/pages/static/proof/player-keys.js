// Moves and acts that players have signed with their own keys (docs/proof/player-keys.md, "The step player keys").

import {canonical, Fault} from "./canonical.js";
import {base64UrlOf, bytesOfBase64Url, bytesOfHex, hexOf, sha256, utf8} from "./hashes.js";
import {checkShape, SIGNED_ACT} from "./shapes.js";

const MOVE = "move-submitted";
const ACTS = [MOVE, "draw-offered", "draw-accepted", "player-resigned", "ruling-appealed"];
const MEANWHILE = [MOVE, "clock-paused", "clock-resumed"];
const SIGNATURE = /^[0-9a-f]{128}$/;
const MAX_BETWEEN = 1000; // events that may lie between the one that a player has signed over and the act
const FIELD = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"; // the prime of P-256

// Whether the step exists for a bundle.
export function hasSignedActs({events}) {
  return events.some(({data}) => Object.hasOwn(data, "signed"));
}

// Checks all acts in order; returns them as {version, actor, act, key}. Throws a Fault.
export async function checkSignedActs(bundle) {
  const acts = [];
  for (const [index, {actor, data, type, version}] of bundle.events.entries()) {
    if (!Object.hasOwn(data, "signed")) continue;
    await checkAct(bundle, index, `events[${index}].data`);
    acts.push({version, actor, act: type, key: await idOf(data.signed.key)});
  }
  return acts;
}

async function checkAct({events, match}, index, place) {
  const {data, type} = events[index];
  const {signed} = data;
  const here = `${place}.signed`;
  if (!ACTS.includes(type)) refuse(here, "players sign no event of this type");
  checkShape(SIGNED_ACT, signed, here, "player keys");
  if (!Number.isInteger(data.seat)) refuse(`${place}.seat`, "the act has no seat");
  const key = await importKey(signed.key);
  if (!key) refuse(`${here}.key`, "it is no public key");
  if (signed.version < Math.max(1, index - MAX_BETWEEN) || signed.version > index)
    refuse(`${here}.version`, "it is not an earlier event, or too early");
  const between = events.slice(signed.version, index);
  const isLaidDown = data.channel === "conditional" && between.some((event) => event.type === MOVE);
  const isFaulty = isLaidDown
    ? (event) => event.type === "moves-taken-back"
    : (event) => !MEANWHILE.includes(event.type);
  if (between.some(isFaulty))
    refuse(`${here}.version`, "something has happened between what the player saw and the act");
  const moves = [];
  for (let at = signed.version; at <= index; at += 1) {
    const {data: made, type: kind} = events[at];
    if (kind !== MOVE) continue;
    if (typeof made.move !== "string") refuse(`events[${at}].data.move`, "it is no move");
    moves.push(made.move);
  }
  if (!SIGNATURE.test(signed.signature)) refuse(`${here}.signature`, "it is no signature");
  const digest = events[signed.version - 1].digest;
  const statement = {act: type, digest, match, moves, seat: data.seat, version: signed.version};
  const message = utf8(`rookery act 1\n${canonical(statement)}`);
  const ecdsa = {name: "ECDSA", hash: "SHA-256"};
  if (!(await crypto.subtle.verify(ecdsa, key, bytesOfHex(signed.signature), message)))
    refuse(`${here}.signature`, "it is not the signature of the key over this act");
}

// Returns a P-256 key to verify with; null for any other key.
async function importKey({crv, kty, x, y}) {
  const isCoordinate = (text) => {
    const bytes = bytesOfBase64Url(text);
    return bytes?.length === 32 && hexOf(bytes) < FIELD;
  };
  if (kty !== "EC" || crv !== "P-256" || !isCoordinate(x) || !isCoordinate(y)) return null;
  const algorithm = {name: "ECDSA", namedCurve: "P-256"};
  try {
    return await crypto.subtle.importKey("jwk", {kty, crv, x, y}, algorithm, false, ["verify"]);
  } catch {
    return null; // no point of the curve
  }
}

async function idOf(key) {
  return base64UrlOf(await sha256(utf8(canonical(key))));
}

function refuse(place, reason) {
  throw new Fault("player keys", place, reason);
}
