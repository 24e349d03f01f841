// The findings of a verification, in plain words.

const TITLES = {
  "well-formed": "The file",
  chain: "The chain of events",
  signature: "The signature of the server",
  tournament: "Lots, pairings and tables",
  "player keys": "Signatures of players",
  checkpoint: "The checkpoint",
  cosigned: "Witnesses",
  receipts: "Your receipts",
  kept: "The checkpoint that you kept",
  rules: "The rules",
};

const ACTS = {
  "move-submitted": "moves",
  "draw-offered": "draw offers",
  "draw-accepted": "agreement to a draw",
  "player-resigned": "resignation",
  "ruling-appealed": "appeal",
};
const STATES = {proved: "Proved", fault: "Fault", unproved: "Not proved", unchecked: "Not checked"};

// Returns {step, state, title, label, text} of a step.
export function describeStep(step, state, text) {
  return {step, state, title: TITLES[step] ?? step, label: STATES[state], text};
}

// Returns the meaning of a proved step, for a bundle and the keys that were given.
export function meaningOf(step, {bundle, keys, keySource, acts, witnesses}) {
  const {events, head, inclusion, signature} = bundle;
  switch (step) {
    case "well-formed":
      return "It is a bundle of format 1 in its one canonical form.";
    case "chain": {
      const withheld = events.findIndex((event) => event.withheld);
      const except =
        withheld < 0
          ? ""
          : ` Event ${withheld + 1} withholds the seed of the opponent while the match goes on: its digest is taken as stated.`;
      return `Each of the ${counted(events.length, "event")} has the digest that follows from it and from all before it.${except}`;
    }
    case "signature": {
      const key = keys.get(signature.key);
      const revoked =
        key.revoked === null
          ? ""
          : ` The key was revoked for what is dated ${instant(key.revoked)} or later; only the signature itself says that it is older.`;
      return `Signed on ${instant(signature.signed_at)} with the key ${signature.key}, ${keySource}.${revoked}`;
    }
    case "tournament":
      return "Computed again from the seed, the entries and the results, they are those that the events record.";
    case "player keys": {
      const versions = new Map();
      for (const {version, act, actor, key} of acts) {
        const signed = `${ACTS[act]} by ${actor} with the key ${key}`;
        versions.set(signed, [...(versions.get(signed) ?? []), version]);
      }
      const made = [...versions].map(([signed, numbers]) => `event ${numbers.join(", ")}: ${signed}`);
      return `${sentence(made.join("; "))}. That a key is that player's is the statement of the server.`;
    }
    case "cosigned": {
      const made = witnesses.map(({name, seconds}) => `${name} on ${instant(seconds * 1000)}`);
      return made.length ? `Cosigned by ${made.join(", ")}.` : "The policy demands no witness.";
    }
    case "checkpoint":
      return (
        `By ${instant(inclusion.checkpoint.signed_at)} the server had committed itself to this match up to event ` +
        `${inclusion.version} of ${head.version}, as entry ${inclusion.leaf + 1} of ${inclusion.checkpoint.size} in its log.` +
        (inclusion.version < head.version ? " About later events it proves nothing." : "")
      );
  }
  return "";
}

// Returns where a fault is, in the words of a reader: an event with its number and kind.
export function describePlace(place, bundle) {
  if (!place) return "in the file as a whole";
  const [, index, rest] = /^events\[(\d+)\](.*)$/.exec(place) ?? [];
  if (index === undefined) return `at ${place}`;
  const event = bundle?.events[Number(index)];
  const kind = typeof event?.type === "string" ? `, ${event.type.replaceAll("-", " ")}` : "";
  const move = typeof event?.data?.move === "string" ? ` ${event.data.move}` : "";
  return `in event ${Number(index) + 1}${kind}${move}${rest ? ` (${place})` : ""}`;
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// Returns an instant (milliseconds since 1970) in UTC; as a number if no calendar has it.
export function instant(milliseconds) {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return `instant ${milliseconds}`;
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
