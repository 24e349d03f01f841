// The key of this browser with which a person signs moves and acts, silently (docs/proof/player-keys.md).
//
// It is kept in IndexedDB, where scripts can use it but not read it. Which key it is stands in the local storage.

import {call} from "./api.js";
import {ANY} from "./move-tree.js";

const STORE = "keys";
const ES256 = {name: "ECDSA", namedCurve: "P-256", hash: "SHA-256"};
const ACTIONS = {resign: "player-resigned", "accept-draw": "draw-accepted"}; // of conditional moves

const flag = () => `signs-${document.getElementById("my-matches").dataset.person}`;

// Returns the id of the key that this browser has of the person; null without one.
export const keyHere = () => localStorage.getItem(flag());

export const forgetKey = () => localStorage.removeItem(flag());

// Resolves to the value of `send(signer)`. `subject` is the match as the page shows it: match, seat, version. When the
// key is gone this browser signs no more, and its person is told so instead.
export async function sendWithKey(subject, send) {
  try {
    return await send(await signerOf(subject));
  } catch (problem) {
    if (problem.code !== "no-such-player-key") throw problem;
    forgetKey();
    throw new Error("The key of this device was removed, so that it signs no more. Nothing was sent: do it once more.");
  }
}

// Resolves to {signed(act, moves), lines(nodes)}. `signed` resolves to the member `signed` of an act, the type of an event,
// with the moves since, and `lines` to conditional moves as the API takes them.
async function signerOf({match, seat, version: tag}) {
  const key = keyHere();
  const secret = await inStore("readonly", (keys) => keys.get(key)).catch(() => null);
  if (!secret) throw Object.assign(new Error(), {code: "no-such-player-key"});
  const [number, digits] = tag.split("-");
  const version = Number(number);
  const {items} = await call("GET", `/api/v1/matches/${match}/events?after=${version - 1}&limit=1`);
  const digest = items[0]?.id ?? "";
  if (!digest.startsWith(digits)) throw new Error("The match has moved on. Nothing was sent.");
  const sign = async (act, moves = []) => {
    // The members stand in canonical order (RFC 8785).
    const statement = JSON.stringify({act, digest, match, moves, seat: Number(seat), version});
    return hex(await crypto.subtle.sign(ES256, secret, bytes(`rookery act 1\n${statement}`)));
  };
  return {
    signed: async (act, moves) => ({key, version, signature: await sign(act, moves)}),
    lines: async (nodes) => ({lines: await signedLines(nodes, Number(seat), sign), signed: {key, version}}),
  };
}

// Resolves to conditional moves, each own answer signed alone, over the moves that lead to it: after any other move none is.
function signedLines(nodes, seat, sign, before = []) {
  return Promise.all(
    nodes.map(async ({move, then, next, seat: mover}) => {
      const moves = [...before, move];
      const act = then ? ACTIONS[then] : mover === seat && "move-submitted";
      const signature = act && !moves.includes(ANY) ? {signature: await sign(act, moves)} : {};
      return {move, ...(then ? {then} : {}), next: await signedLines(next, seat, sign, moves), ...signature};
    }),
  );
}

// Makes a key in this browser and adds it to the account of the person whose password is given.
export async function makeKey(name, password) {
  if (!window.crypto?.subtle) throw new Error("Browsers sign only on pages with https.");
  const {nonce, person} = await call("POST", "/api/v1/me/player-key-nonces", {});
  const pair = await crypto.subtle.generateKey(ES256, false, ["sign", "verify"]);
  const {crv, kty, x, y} = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const signature = hex(
    await crypto.subtle.sign(ES256, pair.privateKey, bytes(`rookery player key 1\n${JSON.stringify({nonce, person})}`)),
  );
  const key = {crv, kty, x, y};
  const id = base64url(await crypto.subtle.digest("SHA-256", bytes(JSON.stringify(key))));
  await inStore("readwrite", (keys) => keys.put(pair.privateKey, id)); // it is here before it counts
  await call("POST", "/api/v1/me/player-keys", {name, password, nonce, key, signature});
  localStorage.setItem(flag(), id);
}

// Resolves to the result of one request to the store of keys.
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

const bytes = (text) => new TextEncoder().encode(text);

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64url(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
