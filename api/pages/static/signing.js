// Keys of the player for signing acts that settle a match, as docs/proof/player-keys.md says: how they are made and used.
//
// A device key is kept in IndexedDB, where scripts can use it but not read it; a passkey in an authenticator.

import {call} from "./api.js";

const KEYS = "/api/v1/me/player-keys";
const STORE = "keys";
const ES256 = {name: "ECDSA", namedCurve: "P-256", hash: "SHA-256"};
const ED25519 = {name: "Ed25519"};

const ACTS = {resignation: "player-resigned", "draw-offers": "draw-offered", "draw-acceptance": "draw-accepted"};

// Resolves to the choice to sign an act of the API at the version tag that the page shows, as a part for its dialog, and
// how it is signed; to null for players who do not want to be asked.
export async function offerToSign(act, match, version) {
  const {items, signs_acts: wanted} = await call("GET", KEYS);
  if (!wanted || !items.length) return null;
  const [part, label, choice] = ["p", "label", "input"].map((name) => document.createElement(name));
  part.id = "ask-signing";
  Object.assign(choice, {type: "checkbox", checked: true});
  label.append(choice, " Sign it with your key");
  part.append(label);
  return {part, choice, version, sign: () => signAct({act: ACTS[act], match, version})};
}

// Resolves to the member `signed` of `act`, the type of an event, in the match at the version tag that the page shows.
// Rejects with a message for the player when there is no signature.
export async function signAct({act, match, version: tag}) {
  requireCrypto();
  const [number, digits] = tag.split("-");
  const version = Number(number);
  const api = `/api/v1/matches/${match}`;
  const [{seats}, {items: events}, {person, items: keys}] = await Promise.all([
    call("GET", api),
    call("GET", `${api}/events?after=${version - 1}&limit=1`),
    call("GET", KEYS),
  ]);
  const digest = events[0]?.id ?? "";
  const {seat} = seats.find(({player}) => player?.id === person) ?? {};
  if (!digest.startsWith(digits) || seat === undefined) throw new Error("The match has moved on. Nothing was sent.");
  // The members stand in canonical order (RFC 8785).
  const challenge = await hashed(`rookery act 1\n${JSON.stringify({act, digest, match, seat, version})}`);
  return {version, ...(await signatureOf(keys, challenge))};
}

// Makes a device key in this browser; resolves to what the API takes of it.
export async function makeDeviceKey({nonce, person}) {
  requireCrypto();
  const pair = await generated();
  const {crv, kty, x, y} = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const key = y === undefined ? {crv, kty, x} : {crv, kty, x, y};
  const id = base64url(await hashed(JSON.stringify(key)));
  await inStore("readwrite", (keys) => keys.put(pair.privateKey, id));
  const challenge = await hashed(`rookery player key 1\n${JSON.stringify({nonce, person})}`);
  return {key, signature: hex(await crypto.subtle.sign(algorithmOf(crv), pair.privateKey, challenge))};
}

// Has an authenticator make a passkey; resolves to what the API takes of it.
export async function makePasskey({nonce, person, relying_party: host}, name) {
  if (!window.PublicKeyCredential) throw new Error("This browser has no passkeys, or not on pages without https.");
  const {items} = await call("GET", KEYS);
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: bytes(nonce),
        rp: {id: host, name: "Rookery"},
        user: {id: new TextEncoder().encode(person), name, displayName: name},
        pubKeyCredParams: [-8, -7].map((alg) => ({type: "public-key", alg})),
        excludeCredentials: descriptors(items),
        attestation: "none",
      },
    }),
  );
  return {
    credential: made.id,
    client_data: base64url(made.response.clientDataJSON),
    attestation_object: base64url(made.response.attestationObject),
  };
}

// The signature over a challenge by the key of this browser, or else by a passkey.
async function signatureOf(keys, challenge) {
  for (const {id, key} of keys.filter(({kind}) => kind === "device")) {
    const secret = await inStore("readonly", (stored) => stored.get(id)).catch(() => null);
    if (secret) return {key: id, signature: hex(await crypto.subtle.sign(algorithmOf(key.crv), secret, challenge))};
  }
  const allowCredentials = descriptors(keys);
  if (!allowCredentials.length || !window.PublicKeyCredential)
    throw new Error("None of your keys is in this browser. Nothing was sent: you can do it without a signature.");
  const publicKey = {challenge, rpId: location.hostname, allowCredentials, userVerification: "preferred"};
  const {id: credential, response} = await asked(() => navigator.credentials.get({publicKey}));
  const used = keys.find((key) => key.credential === credential);
  const signature = new Uint8Array(response.signature);
  return {
    key: used.id,
    signature: hex(used.key.crv === "P-256" ? withoutDer(signature) : signature),
    authenticator_data: hex(response.authenticatorData),
    client_data: new TextDecoder().decode(response.clientDataJSON),
  };
}

// What a person has to confirm at an authenticator; a refusal in words.
async function asked(use) {
  try {
    return await use();
  } catch (error) {
    throw new Error(
      error.name === "InvalidStateError"
        ? "This authenticator has a passkey of yours already."
        : "Your passkey was not used. Nothing was sent.",
    );
  }
}

function requireCrypto() {
  if (!window.crypto?.subtle) throw new Error("Browsers sign only on pages with https. Nothing was sent.");
}

async function generated() {
  try {
    return await crypto.subtle.generateKey(ED25519, false, ["sign", "verify"]);
  } catch {
    return crypto.subtle.generateKey(ES256, false, ["sign", "verify"]); // Ed25519 is not in every browser
  }
}

function algorithmOf(curve) {
  return curve === "Ed25519" ? ED25519 : ES256;
}

function descriptors(keys) {
  return keys.filter(({credential}) => credential).map(({credential: id}) => ({type: "public-key", id: bytes(id)}));
}

// An ECDSA signature as r and s, 32 bytes each, of its DER form (RFC 3279, section 2.2.3).
function withoutDer(der) {
  const integer = (start) => der.slice(start + 2, start + 2 + der[start + 1]);
  const r = integer(2);
  const s = integer(4 + r.length);
  const joined = new Uint8Array(64);
  for (const [end, number] of [
    [32, r],
    [64, s],
  ]) {
    const significant = number.slice(-32);
    joined.set(significant, end - significant.length);
  }
  return joined;
}

// Resolves to the result of one request to the store of device keys.
function inStore(mode, request) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("rookery", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(new Error("This browser stores no keys here: its storage is switched off."));
    opening.onsuccess = () => {
      const asking = request(opening.result.transaction(STORE, mode).objectStore(STORE));
      asking.onsuccess = () => resolve(asking.result);
      asking.onerror = () => reject(asking.error);
    };
  });
}

async function hashed(text) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64url(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}
