// Key sets of installations (docs/proof/bundle.md, section 6).

import {Fault} from "./canonical.js";
import {base64UrlOf, bytesOfBase64Url, bytesOfHex, isSignedBy, sha256, utf8} from "./hashes.js";
import {checkShape, KEY} from "./shapes.js";

const MAX_KEY_SET_BYTES = 1_000_000;

// Returns the keys of a key set (its value, as JSON.parse returns it, and its length in bytes) by their ids; throws a
// Fault of the step "keys".
export async function readKeySet(value, length = 0) {
  if (length > MAX_KEY_SET_BYTES) refuse("", `it has more than ${MAX_KEY_SET_BYTES} bytes`);
  if (!Array.isArray(value?.keys)) refuse("keys", "it has no list of keys");
  const keys = new Map();
  for (const [index, key] of value.keys.entries()) {
    const place = `keys[${index}]`;
    checkShape(KEY, key, place, "keys");
    const bytes = bytesOfBase64Url(key.x);
    if (!bytes) refuse(`${place}.x`, "it is not base64url");
    if (key.kty !== "OKP" || key.crv !== "Ed25519" || bytes.length !== 32) refuse(place, "it is no Ed25519 key");
    const id = base64UrlOf(await sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${key.x}"}`)));
    if (key.kid !== id || keys.has(id)) refuse(`${place}.kid`, "it is not the id of the key, or stands twice");
    keys.set(id, {id, bytes, since: key.since, until: key.until ?? null, revoked: key.revoked ?? null});
  }
  return keys;
}

function refuse(place, reason) {
  throw new Fault("keys", place, reason);
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
