// Places in texts of JSON (docs/proof/bundle.md, sections 2.1 and 2.2): needed only when a document is refused, except
// for `measureNesting`.

import {paused} from "./pauses.js";

const WHITE_SPACE = " \t\n\r";
const ESCAPES = '"\\/bfnrt';
const SIGNS_AT_ONCE = 100_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// Returns how often [ { and , occur in a text, and how deep it is nested, brackets in strings not counted.
export async function measureNesting(text) {
  let signs = 0;
  let depth = 0;
  let nesting = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (at % SIGNS_AT_ONCE === 0) await paused();
    if (sign === 0x5b || sign === 0x7b) {
      signs += 1;
      if (!inString) {
        depth += 1;
        if (depth > nesting) nesting = depth;
      }
    } else if (sign === 0x2c) signs += 1;
    else if (sign === QUOTE) inString = !inString;
    else if (inString) at += Number(sign === BACKSLASH);
    else if ((sign === 0x5d || sign === 0x7d) && depth > 0) depth -= 1;
  }
  return {signs, nesting};
}

// Returns the place of the character with this index: a step for each array and object that is open there.
export function findPlace(text, index) {
  const open = [];
  for (let at = 0; at < index; at += 1) {
    const inner = open.at(-1);
    switch (text[at]) {
      case "{":
        open.push({name: null});
        break;
      case "[":
        open.push({element: 0});
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (inner && "element" in inner) inner.element += 1;
        else if (inner) inner.name = null;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (inner?.name === null) inner.name = text.slice(at + 1, end);
        at = end;
      }
    }
  }
  let place = "";
  for (const {name, element} of open) {
    if (element !== undefined) place += `[${element}]`;
    else if (name !== null) place += `.${name}`;
  }
  return place.replace(/^\./, "");
}

function endOfString(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at, text.length);
}

// Returns the index of the first byte of the first sequence that is not UTF-8 (RFC 3629, 4).
export function findUtf8Error(bytes) {
  let at = 0;
  while (at < bytes.length) {
    const length = lengthOfSequence(bytes, at);
    if (!length) return at;
    at += length;
  }
  return at;
}

function lengthOfSequence(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const [length, low, high] =
    first >= 0xc2 && first <= 0xdf
      ? [2, 0x80, 0xbf]
      : first === 0xe0
        ? [3, 0xa0, 0xbf]
        : first === 0xed
          ? [3, 0x80, 0x9f]
          : first >= 0xe1 && first <= 0xef
            ? [3, 0x80, 0xbf]
            : first === 0xf0
              ? [4, 0x90, 0xbf]
              : first >= 0xf1 && first <= 0xf3
                ? [4, 0x80, 0xbf]
                : first === 0xf4
                  ? [4, 0x80, 0x8f]
                  : [0];
  if (!length || at + length > bytes.length) return 0;
  if (bytes[at + 1] < low || bytes[at + 1] > high) return 0;
  for (let place = 2; place < length; place += 1) if ((bytes[at + place] & 0xc0) !== 0x80) return 0;
  return length;
}

class SyntaxErrorAt extends Error {
  constructor(index) {
    super(`no JSON from character ${index} on`);
    this.index = index;
  }
}

// Returns the index of the first character with which no JSON text (RFC 8259) can go on.
export function findSyntaxError(text) {
  try {
    new Reader(text).document();
  } catch (error) {
    if (error instanceof SyntaxErrorAt) return error.index;
    throw error;
  }
  return text.length;
}

// Returns the value of a JSON text with objects as maps, whose members have the order of the text. A name that stands
// twice has its first place and its last value.
export function parseInOrder(text) {
  return new Reader(text).document();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  document() {
    const value = this.value();
    this.skip();
    if (this.at < this.text.length) this.fail();
    return value;
  }

  value() {
    this.skip();
    const sign = this.text[this.at];
    if (sign === "{") return this.object();
    if (sign === "[") return this.array();
    if (sign === '"') return this.string();
    if (sign === "t") return this.literal("true", true);
    if (sign === "f") return this.literal("false", false);
    if (sign === "n") return this.literal("null", null);
    return this.number();
  }

  object() {
    const members = new Map();
    this.at += 1;
    this.skip();
    if (this.takes("}")) return members;
    for (;;) {
      this.skip();
      if (this.text[this.at] !== '"') this.fail();
      const name = this.string();
      this.skip();
      if (!this.takes(":")) this.fail();
      members.set(name, this.value());
      this.skip();
      if (this.takes("}")) return members;
      if (!this.takes(",")) this.fail();
    }
  }

  array() {
    const elements = [];
    this.at += 1;
    this.skip();
    if (this.takes("]")) return elements;
    for (;;) {
      elements.push(this.value());
      this.skip();
      if (this.takes("]")) return elements;
      if (!this.takes(",")) this.fail();
    }
  }

  string() {
    const start = this.at;
    this.at += 1;
    while (!this.takes('"')) {
      const sign = this.text[this.at];
      if (sign === undefined || (sign === "\\" && this.at + 1 === this.text.length)) this.fail(start); // it does not end
      if (sign < " ") this.fail();
      this.at += 1;
      if (sign === "\\") this.escape();
    }
    return JSON.parse(this.text.slice(start, this.at));
  }

  escape() {
    if (this.takes("u")) for (let digit = 0; digit < 4; digit += 1) this.one(/[0-9a-fA-F]/);
    else if (ESCAPES.includes(this.text[this.at])) this.at += 1;
    else this.fail();
  }

  number() {
    const start = this.at;
    this.takes("-");
    if (!this.takes("0")) this.digits();
    if (this.takes(".")) this.digits();
    if (this.takes("e") || this.takes("E")) {
      if (!this.takes("+")) this.takes("-");
      this.digits();
    }
    return JSON.parse(this.text.slice(start, this.at));
  }

  digits() {
    this.one(/[0-9]/);
    while (/[0-9]/.test(this.text[this.at] ?? "")) this.at += 1;
  }

  literal(word, value) {
    for (const letter of word) if (!this.takes(letter)) this.fail();
    return value;
  }

  one(pattern) {
    if (!pattern.test(this.text[this.at] ?? "")) this.fail();
    this.at += 1;
  }

  takes(sign) {
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  skip() {
    while (this.at < this.text.length && WHITE_SPACE.includes(this.text[this.at])) this.at += 1;
  }

  fail(index = this.at) {
    throw new SyntaxErrorAt(index);
  }
}
