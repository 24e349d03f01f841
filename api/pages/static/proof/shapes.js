// The members of a bundle and of a checkpoint, and their types (docs/proof/bundle.md, section 3).

import {Fault, memberPlace} from "./canonical.js";

const DIGEST = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const text = (value) => typeof value === "string";
const whole = (value) => Number.isSafeInteger(value);
const number = (value) => typeof value === "number";
const truth = (value) => typeof value === "boolean";
const object = (value) => isObject(value);
const digest = (value) => text(value) && DIGEST.test(value);
const signature = (value) => text(value) && SIGNATURE.test(value);
const list = (element) => ({element});
const optional = (type) => ({optional: type});
// The names of the members are those of the tables of the specification.
const members = (table) => ({members: new Map(Object.entries(table))});

export const EVENT = members({
  actor: text,
  at: whole,
  data: object,
  digest,
  schema: whole,
  type: text,
  version: whole,
  withheld: optional(list(text)),
});

export const CHECKPOINT = members({
  administration: members({digest, number: whole}),
  day: text,
  format: whole,
  key: text,
  origin: text,
  root: digest,
  signature,
  signed_at: whole,
  size: whole,
});

export const CONSISTENCY = members({path: list(digest), sizes: list(whole)});

const PROOF = members({
  decided_by: optional(whole),
  key: optional(text),
  plies: optional(list(whole)),
  ply: whole,
  position: optional(text),
});

const FACTS = members({
  positions: optional(list(members({position: text, version: whole}))),
  reason: optional(text),
  replayed: whole,
  result: optional(members({proof: PROOF, scores: list(number)})),
  rulesets: list(members({game: text, ruleset: whole})),
  seats: list(members({joined: truth, level: optional(whole), player: optional(text)})),
  status: optional(text),
  terms: object,
});

const INCLUSION = members({
  checkpoint: CHECKPOINT,
  leaf: whole,
  note: optional(text),
  path: list(digest),
  version: whole,
});

export const BUNDLE = members({
  events: list(EVENT),
  facts: FACTS,
  format: whole,
  head: members({digest, version: whole}),
  inclusion: optional(INCLUSION),
  match: text,
  signature: members({inclusion: digest, key: text, signed_at: whole, value: signature}),
});

export const RECEIPT = members({
  digest,
  format: whole,
  installation: text,
  key: text,
  match: text,
  signature,
  signed_at: whole,
  version: whole,
});

// A key of a key set (section 6.1).
export const KEY = members({
  alg: text,
  crv: text,
  kid: text,
  kty: text,
  revoked: optional(whole),
  since: whole,
  until: optional((value) => value === null || whole(value)),
  use: text,
  x: text,
});

// The member `signed` of an act (docs/proof/player-keys.md).
export const SIGNED_ACT = members({
  key: members({crv: text, kty: text, x: text, y: text}),
  signature: text,
  version: whole,
});

// Compares a value with its type: first the members present, in order, then those missing; throws a Fault of a step.
export function checkShape(type, value, place, step = "well-formed") {
  const refuse = (where, reason) => {
    throw new Fault(step, where, reason);
  };
  if (typeof type === "function") {
    if (!type(value)) refuse(place, "the value has another type or form");
  } else if (type.optional) checkShape(type.optional, value, place, step);
  else if (type.element) {
    if (!Array.isArray(value)) refuse(place, "the value is not a list");
    for (const [index, element] of value.entries()) checkShape(type.element, element, `${place}[${index}]`, step);
  } else {
    if (!isObject(value)) refuse(place, "the value is not an object");
    for (const name of Object.keys(value)) {
      const inner = type.members.get(name);
      if (!inner) refuse(place, `it has a member "${name}", which format 1 does not have`);
      checkShape(inner, value[name], memberPlace(place, name), step);
    }
    for (const [name, inner] of type.members)
      if (!inner.optional && !Object.hasOwn(value, name)) refuse(place, `the member "${name}" is missing`);
  }
}
