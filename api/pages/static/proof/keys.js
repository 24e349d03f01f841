// Key sets of installations (docs/proof/bundle.md, section 6).

import {base64UrlOf, bytesOfBase64Url, bytesOfHex, isSignedBy, sha256, utf8} from "./hashes.js";

const MAX_KEY_SET_BYTES = 1_000_000;
const KNOWN = new Set(["alg", "crv", "kid", "kty", "revoked", "since", "until", "use", "x"]);

// Returns the keys of a key set (its value, as JSON.parse returns it) by their ids; throws an Error that says what is
// wrong.
export async function readKeySet(value, length = 0) {
  if (length > MAX_KEY_SET_BYTES) throw new Error(`a key set has at most ${MAX_KEY_SET_BYTES} bytes`);
  if (!Array.isArray(value?.keys)) throw new Error("a key set has a list of keys");
  const keys = new Map();
  for (const [index, key] of value.keys.entries()) {
    const read = await readKey(key, `keys[${index}]`);
    if (keys.has(read.id)) throw new Error(`keys[${index}]: the key stands twice`);
    keys.set(read.id, read);
  }
  return keys;
}

async function readKey(key, place) {
  const refuse = (reason) => {
    throw new Error(`${place}: ${reason}`);
  };
  if (key === null || typeof key !== "object") refuse("it is not a key");
  for (const name of Object.keys(key)) if (!KNOWN.has(name)) refuse(`keys have no member "${name}"`);
  if (key.kty !== "OKP" || key.crv !== "Ed25519") refuse("it is not an Ed25519 key");
  const bytes = typeof key.x === "string" ? bytesOfBase64Url(key.x) : null;
  if (bytes?.length !== 32) refuse("x is not the public part of an Ed25519 key");
  const thumbprint = base64UrlOf(await sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${key.x}"}`)));
  if (key.kid !== thumbprint) refuse("kid is not the id of the key");
  const since = key.since;
  if (!Number.isInteger(since)) refuse("since is not an instant");
  const until = key.until ?? null;
  const revoked = key.revoked ?? null;
  if (until !== null && !Number.isInteger(until)) refuse("until is not an instant");
  if (revoked !== null && !Number.isInteger(revoked)) refuse("revoked is not an instant");
  return {id: thumbprint, bytes, since, until, revoked};
}

// Whether a key was in use at an instant, and what it signed then is not revoked.
export function isInUse(key, instant) {
  return (
    key.since <= instant &&
    (key.until === null || instant < key.until) &&
    (key.revoked === null || instant < key.revoked)
  );
}

export function hasSigned(key, signatureHex, message) {
  return isSignedBy(key.bytes, bytesOfHex(signatureHex), message);
}
