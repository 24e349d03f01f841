// Acts that players have signed with their own keys (docs/proof/player-keys.md, "The step player keys").

import {canonical, Fault} from "./canonical.js";
import {base64UrlOf, bytesOfBase64Url, bytesOfHex, hexOf, isSignedBy, joined, sha256, utf8} from "./hashes.js";
import {checkShape, SIGNED_ACT} from "./shapes.js";

const ACTS = ["draw-offered", "draw-accepted", "player-resigned", "ruling-appealed"];
const BESIDE = ["calendar-set", "clock-paused", "clock-resumed"]; // recorded by the server when an act is under way
const SIGNATURE = /^[0-9a-f]{128}$/;
const HEX_BYTES = /^(?:[0-9a-f]{2})*$/;
const MAX_CLIENT_DATA_BRACKETS = 32; // parsers differ in how deep they read
const MIN_AUTHENTICATOR_BYTES = 37;
const ORIGIN = /^https?:\/\/([a-z0-9.-]+)(?::[0-9]+)?$/;
const USER_PRESENT = 1;

// Whether the step exists for a bundle.
export function hasSignedActs({events}) {
  return events.some(({data}) => Object.hasOwn(data, "signed"));
}

// Checks all acts in order; returns them as {version, actor, act, key, kind}. Throws a Fault.
export async function checkSignedActs(bundle) {
  const acts = [];
  for (const [index, {actor, data, type, version}] of bundle.events.entries()) {
    if (!Object.hasOwn(data, "signed")) continue;
    await checkAct(bundle, index, `events[${index}].data`);
    acts.push({version, actor, act: type, kind: data.signed.kind, key: await idOf(data.signed.key)});
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
  const isSigned = await importKey(signed.key);
  if (!isSigned) refuse(`${here}.key`, "it is no public key");
  if (signed.version < 1 || signed.version > index) refuse(`${here}.version`, "it is not an earlier event");
  if (events.slice(signed.version, index).some((event) => !BESIDE.includes(event.type)))
    refuse(`${here}.version`, "something has happened between what the player saw and the act");
  if (!SIGNATURE.test(signed.signature)) refuse(`${here}.signature`, "it is no signature");
  const digest = events[signed.version - 1].digest;
  const statement = {act: type, digest, match, seat: data.seat, version: signed.version};
  const challenge = await sha256(utf8(`rookery act 1\n${canonical(statement)}`));
  const message =
    signed.kind === "device" ? checkDevice(signed, here, challenge) : await checkPasskey(signed, here, challenge);
  if (!(await isSigned(bytesOfHex(signed.signature), message)))
    refuse(`${here}.signature`, "it is not the signature of the key over this act");
}

function checkDevice(signed, here, challenge) {
  for (const name of ["authenticator_data", "client_data"])
    if (Object.hasOwn(signed, name)) refuse(`${here}.${name}`, "a device key has none");
  return challenge;
}

// Returns what the authenticator has signed (Web Authentication, 7.2).
async function checkPasskey(signed, here, challenge) {
  const place = `${here}.authenticator_data`;
  const encoded = signed.authenticator_data;
  if (encoded === undefined || !HEX_BYTES.test(encoded) || encoded.length < 2 * MIN_AUTHENTICATOR_BYTES)
    refuse(place, "it is not what an authenticator makes");
  const host = hostOf(signed.client_data, base64UrlOf(challenge));
  if (host === null) refuse(`${here}.client_data`, "it is not what a browser makes for this act");
  const authenticator = bytesOfHex(encoded);
  if (hexOf(await sha256(utf8(host))) !== encoded.slice(0, 64)) refuse(place, "it is for another site");
  if (!(authenticator[32] & USER_PRESENT)) refuse(place, "no person has touched the authenticator");
  return joined(authenticator, await sha256(utf8(signed.client_data)));
}

// Returns the host for which a browser has asked for a signature of `challenge`; null for any other text.
function hostOf(text, challenge) {
  if (text === undefined || text.split(/[[{]/).length - 1 > MAX_CLIENT_DATA_BRACKETS) return null;
  let client;
  try {
    client = JSON.parse(text);
  } catch {
    return null;
  }
  if (client === null || typeof client !== "object" || Array.isArray(client)) return null;
  if (client.type !== "webauthn.get" || client.challenge !== challenge || client.crossOrigin === true) return null;
  return (typeof client.origin === "string" && ORIGIN.exec(client.origin)?.[1]) || null;
}

// Returns the function (signature, message) that verifies with a key; null for no key of the two forms.
async function importKey({crv, kty, x, y}) {
  const coordinate = (text) => {
    const bytes = bytesOfBase64Url(text);
    return bytes?.length === 32 ? bytes : null;
  };
  if (!coordinate(x)) return null;
  if (kty === "OKP" && crv === "Ed25519" && y === undefined)
    return (signature, message) => isSignedBy(coordinate(x), signature, message);
  if (kty !== "EC" || crv !== "P-256" || y === undefined || !coordinate(y)) return null;
  let key;
  try {
    key = await crypto.subtle.importKey("jwk", {kty, crv, x, y}, {name: "ECDSA", namedCurve: "P-256"}, false, [
      "verify",
    ]);
  } catch {
    return null; // no point of the curve
  }
  return (signature, message) => crypto.subtle.verify({name: "ECDSA", hash: "SHA-256"}, key, signature, message);
}

async function idOf(key) {
  return base64UrlOf(await sha256(utf8(canonical(key))));
}

function refuse(place, reason) {
  throw new Fault("player keys", place, reason);
}
