// Key sets of installations (docs/proof/bundle.md, section 6).

import {Fault, readJson} from "./canonical.js";
import {base64UrlOf, bytesOfBase64Url, bytesOfHex, isEd25519Key, isSignedBy, sha256, utf8} from "./hashes.js";
import {checkShape, KEY} from "./shapes.js";

const MAX_KEY_SET_BYTES = 1_000_000;

// Returns the keys of a key set, given as bytes, by their ids; throws a Fault of the step "keys".
export async function readKeySet(bytes) {
  const {value} = await readJson(bytes, MAX_KEY_SET_BYTES).catch((fault) => refuse("", fault.message));
  if (!Array.isArray(value?.keys)) refuse("keys", "it has no list of keys");
  const keys = new Map();
  for (const [index, key] of value.keys.entries()) {
    const place = `keys[${index}]`;
    checkShape(KEY, sorted(key), place, "keys");
    const raw = bytesOfBase64Url(key.x);
    if (!raw) refuse(`${place}.x`, "it is not base64url");
    if (key.kty !== "OKP" || key.crv !== "Ed25519" || !isEd25519Key(raw))
      refuse(place, "it is no Ed25519 key, or one under which others can sign");
    const id = base64UrlOf(await sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${key.x}"}`)));
    if (key.kid !== id || keys.has(id)) refuse(`${place}.kid`, "it is not the id of the key, or stands twice");
    keys.set(id, {id, bytes: raw, since: key.since, until: key.until ?? null, revoked: key.revoked ?? null});
  }
  return keys;
}

// An object with its members in the order of their names: that of the text counts for nothing.
function sorted(key) {
  const isObject = key !== null && typeof key === "object" && !Array.isArray(key);
  return isObject
    ? Object.fromEntries(
        Object.keys(key)
          .sort()
          .map((name) => [name, key[name]]),
      )
    : key;
}

function refuse(place, reason) {
  throw new Fault("keys", place, reason);
}

// Whether a key was in use at an instant, and its signatures of then are not revoked.
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
