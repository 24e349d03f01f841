// Canonical JSON and documents (docs/proof/bundle.md, section 2).

import {findPlace, findSyntaxError, findUtf8Error, measureNesting, parseInOrder} from "./json-text.js";
import {paused} from "./pauses.js";

const MAX_SIGNS = 1_000_000; // of [ { and , in a document
const MAX_NESTING = 32;
const MIN_FRACTION = 0.0001;

// The first thing that is wrong: the step of the verification, the place of the value, and the reason for people.
export class Fault extends Error {
  constructor(step, place, reason) {
    super(reason);
    this.step = step;
    this.place = place;
  }
}

export class NoCanonicalForm extends Error {}

const refuse = (place, reason) => {
  throw new Fault("well-formed", place, reason);
};

// Returns the canonical JSON of a value that JSON.parse has made; throws NoCanonicalForm.
export function canonical(value) {
  switch (typeof value) {
    case "string":
      if (!isText(value)) throw new NoCanonicalForm();
      return JSON.stringify(value);
    case "number":
      if (!isCanonicalNumber(value)) throw new NoCanonicalForm();
      return JSON.stringify(value);
    case "boolean":
      return String(value);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = sortedNames(value).map((name) => {
    if (!isCanonicalName(name)) throw new NoCanonicalForm();
    return `${JSON.stringify(name)}:${canonical(value[name])}`;
  });
  return `{${members.join(",")}}`;
}

// Returns {text, value} of JSON; throws a Fault of the step "well-formed" (checks 1 to 5 of section 2.1).
export async function readJson(bytes, maxBytes) {
  if (bytes.length > maxBytes) refuse("", `the file has more than ${maxBytes} bytes`);
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch {
    const valid = new TextDecoder("utf-8", {ignoreBOM: true}).decode(bytes.subarray(0, findUtf8Error(bytes)));
    refuse(findPlace(valid, valid.length), "the file is not a text in UTF-8");
  }
  const {signs, nesting} = await measureNesting(text);
  if (signs > MAX_SIGNS) refuse("", "the file has too many values");
  if (nesting > MAX_NESTING) refuse("", `the file is nested more than ${MAX_NESTING} deep`);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    refuse(findPlace(text, findSyntaxError(text)), "the file is not valid JSON");
  }
  return {text, value};
}

// Returns the value of a document, whose canonical form is then known; throws a Fault of the step "well-formed".
export async function readDocument(bytes, maxBytes) {
  const {text, value} = await readJson(bytes, maxBytes);
  await paused();
  if (value === null || typeof value !== "object" || Array.isArray(value)) refuse("", "the file is not a JSON object");
  if (Object.hasOwn(value, "format") && value.format !== 1) refuse("format", "this page knows format 1 only");
  if (!(await isWritten(text, value))) {
    const place = findWithoutForm(parseInOrder(text), "");
    if (place !== null) refuse(place.slice(1), "the value has no canonical form");
    refuse(findPlace(text, lengthInCommon(text, `${canonical(value)}\n`)), "the file is not in canonical form here");
  }
  return value;
}

// Returns the canonical JSON of an object as `canonical` does, with pauses between the elements of its long lists.
export async function canonicalWithPauses(value) {
  const members = [];
  for (const name of sortedNames(value)) {
    if (!isCanonicalName(name)) throw new NoCanonicalForm();
    const member = value[name];
    if (!Array.isArray(member)) {
      members.push(`${JSON.stringify(name)}:${canonical(member)}`);
      continue;
    }
    const elements = [];
    for (const element of member) {
      elements.push(canonical(element));
      await paused();
    }
    members.push(`${JSON.stringify(name)}:[${elements.join(",")}]`);
  }
  return `{${members.join(",")}}`;
}

// Whether a text is the canonical JSON of an object and a line feed.
async function isWritten(text, value) {
  try {
    return `${await canonicalWithPauses(value)}\n` === text;
  } catch (error) {
    if (error instanceof NoCanonicalForm) return false;
    throw error;
  }
}

// The place, with a dot before it, of the first value without a canonical form, in the order of the text, inner ones first
// (section 2.3); null without one.
function findWithoutForm(value, place) {
  if (typeof value === "string") return isText(value) ? null : place;
  if (typeof value === "number") return isCanonicalNumber(value) ? null : place;
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const inner = findWithoutForm(element, `${place}[${index}]`);
      if (inner !== null) return inner;
    }
  } else if (value instanceof Map) {
    for (const [name, member] of value) {
      const inner = findWithoutForm(member, `${place}.${escapeSurrogates(name)}`);
      if (inner !== null) return inner;
    }
    if (![...value.keys()].every(isCanonicalName)) return place;
  }
  return null;
}

function escapeSurrogates(name) {
  const pattern = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  return name.replace(pattern, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

export function memberPlace(place, name) {
  return place ? `${place}.${name}` : name;
}

function sortedNames(value) {
  return Object.keys(value).sort();
}

function isCanonicalName(name) {
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) > 127) return false;
  return true;
}

const isText = (text) => text.isWellFormed();

function isCanonicalNumber(number) {
  if (Number.isInteger(number)) return Number.isSafeInteger(number);
  return Math.abs(number) >= MIN_FRACTION && Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

function lengthInCommon(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
