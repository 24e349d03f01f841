// SHA-256 and Ed25519 by WebCrypto, and the texts of bytes.

const encoder = new TextEncoder();

export const utf8 = (text) => encoder.encode(text);

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export async function sha256Hex(bytes) {
  return hexOf(await sha256(bytes));
}

const BYTES_AS_HEX = Array.from({length: 256}, (_, byte) => byte.toString(16).padStart(2, "0"));

export function hexOf(bytes) {
  let text = "";
  for (const byte of bytes) text += BYTES_AS_HEX[byte];
  return text;
}

// Returns the bytes that a text of hexadecimal digits in small letters stands for.
export function bytesOfHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let place = 0; place < bytes.length; place += 1)
    bytes[place] = Number.parseInt(text.slice(2 * place, 2 * place + 2), 16);
  return bytes;
}

// Returns the bytes of a text in base64 with padding; null for any other text, also for one with stray bits at its end.
export function bytesOfBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4) return null;
  let binary;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  return btoa(binary) === text ? Uint8Array.from(binary, (sign) => sign.charCodeAt(0)) : null;
}

// Returns the bytes of a text in base64url without padding (RFC 4648, 5); null for any other text.
export function bytesOfBase64Url(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return bytesOfBase64(standard + "=".repeat((4 - (standard.length % 4)) % 4));
}

export function base64UrlOf(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

export function areEqual(one, other) {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

// The y coordinates of the points whose order is 1, 2, 4 or 8, on the curve of Ed25519.
const FIELD = 2n ** 255n - 19n;
const ORDER_8 = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const SMALL_ORDER = [0n, 1n, FIELD - 1n, ORDER_8, FIELD - ORDER_8];

// Returns whether bytes may be an Ed25519 public key: 32, canonical, not of small order (docs/proof/bundle.md, 5.3).
export function isEd25519Key(bytes) {
  if (bytes.length !== 32) return false;
  const y = BigInt(`0x${hexOf(bytes.toReversed())}`) & (2n ** 255n - 1n);
  return y < FIELD && !SMALL_ORDER.includes(y);
}

// Returns whether a signature (64 bytes) of a message was made with the key whose public bytes (32) are given (RFC 8032).
export async function isSignedBy(publicBytes, signature, message) {
  if (!isEd25519Key(publicBytes) || !isEd25519Key(signature.subarray(0, 32))) return false;
  let key;
  try {
    key = await crypto.subtle.importKey("raw", publicBytes, {name: "Ed25519"}, false, ["verify"]);
  } catch {
    return false; // no point of the curve
  }
  return crypto.subtle.verify({name: "Ed25519"}, key, signature, message);
}

// RFC 8032, 7.1, test 1: the public key, and its signature of the empty message.
const KNOWN_KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const KNOWN_SIGNATURE =
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

// Returns which of SHA-256 and Ed25519 this browser can compute here.
export async function findSupport() {
  if (!globalThis.crypto?.subtle) return {sha256: false, ed25519: false};
  try {
    const ed25519 = await isSignedBy(bytesOfHex(KNOWN_KEY), bytesOfHex(KNOWN_SIGNATURE), new Uint8Array());
    return {sha256: true, ed25519};
  } catch {
    return {sha256: true, ed25519: false};
  }
}
