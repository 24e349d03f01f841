// The lots, pairings and tables of a tournament, computed again from its events: written from docs/proof/tournaments.md.

import {canonical, Fault} from "./canonical.js";
import {sha256Hex, utf8} from "./hashes.js";

const NO_RESULT = ["pairing-started", "result-taken-back", "pairing-voided"];
const RESULT = ["result-recorded", "pairing-forfeited"];
const TABLE = ["tournament-ended", "table-corrected"];
const FIRST_TABLES = {
  5: "0 1 3 2",
  6: "0 1 3 2",
  7: "0 1 2 4",
  8: "0 2 1 4",
  9: "0 2 1 4",
  10: "0 2 1 5",
  11: "0 1 5 2",
  12: "0 1 7 3",
  13: "0 1 3 9",
};
const POWERS_OF_NINE = [1, 3, 4, 7, 2, 6, 8, 5];
const WHIST = {
  8: ["7 0 1 5, 2 3 6 4", "00322320321220"],
  12: ["11 0 1 9, 2 4 8 7, 3 5 10 6", "121331021203122312113212022011220"],
  16: ["15 0 13 2, 1 8 10 11, 3 4 7 12, 5 9 6 14", "300210222100012233331322200200222000031210110302332213122012"],
};

export const isTournament = ({match}) => match.startsWith("tournament-");

// Throws a Fault at the first thing that does not follow from the events.
export async function checkTournament({events}) {
  const tournament = new Tournament();
  for (const [index, event] of events.entries()) {
    try {
      await tournament.follow(event);
    } catch (error) {
      // Members that are missing or of another type are found where they are used.
      const [member, reason] = error instanceof Wrong ? [error.member, error.message] : ["", "it has another form"];
      throw new Fault("tournament", `events[${index}].data${member}`, reason);
    }
  }
}

class Wrong extends Error {
  constructor(member, reason) {
    super(reason);
    this.member = member && `.${member}`;
  }
}

const require = (isTrue, member, reason) => {
  if (!isTrue) throw new Wrong(member, reason);
};
const isSame = (one, other) => canonical(one) === canonical(other);
const range = (count) => Array.from({length: count}, (_, number) => number);
const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const numbersOf = (text) => text.split(" ").map(Number);

class Tournament {
  terms = null;
  waiting = [];
  players = [];
  struck = new Set();
  pairings = [];
  results = new Map();

  async follow({type, data}) {
    if (type === "tournament-announced") this.terms = data.terms;
    require(this.terms !== null, "", "the tournament was not announced");
    if (type === "entry-made") this.waiting.push(data.player);
    if (type === "entry-taken-back") this.stopWaiting(data.player);
    if (type === "tournament-started") await this.start(data);
    if (type === "place-filled") this.fillPlace(data);
    if (type === "player-left" && data.struck) this.struck.add(this.players.lastIndexOf(data.player));
    if ([...RESULT, ...NO_RESULT].includes(type)) this.setResult(data, RESULT.includes(type));
    if (TABLE.includes(type))
      require(isSame(data.table, this.table()), "table", "another table follows from the results");
  }

  stopWaiting(player) {
    this.waiting = this.waiting.filter((other) => other !== player);
  }

  async start({seed, players, pairings}) {
    const {form, most} = this.terms;
    const seats = pairings[0]?.length;
    const size = Math.max(0, ...sizesOf(form, seats).filter((size) => size <= Math.min(most, this.waiting.length)));
    const entered = this.waiting.slice(0, size);
    const lots = await Promise.all(entered.map(async (player) => [await sha256Hex(utf8(`${seed}/${player}`)), player]));
    const drawn = lots.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, player]) => player);
    require(size > 0 && isSame(players, drawn), "players", "another order follows from the seed");
    require(isSame(pairings, scheduleOf(form, seats, size)), "pairings", "the schedule of this form is another one");
    this.players = players;
    this.waiting = this.waiting.slice(size);
    this.pairings = pairings;
  }

  fillPlace({player, left, replaced, pairings}) {
    require(player === this.waiting[0], "player", "somebody else was the first who waited");
    const number = this.players.length;
    const kept = replaced.map((pairing) =>
      (this.pairings[pairing - 1] ?? []).map((one) => (one === left ? number : one)),
    );
    const sorted = (lists) => lists.map((list) => [...list].sort((one, other) => one - other));
    const inSeats = kept[0]?.length === 2 ? kept : sorted(kept);
    require(isSame(
      kept[0]?.length === 2 ? pairings : sorted(pairings),
      inSeats,
    ), "pairings", "they are not those of who left");
    this.stopWaiting(player);
    this.players = [...this.players, player];
    this.pairings = [...this.pairings, ...pairings];
    for (const pairing of replaced) this.results.delete(pairing);
  }

  setResult({pairing, scores, flags = []}, hasResult) {
    const entrants = this.pairings[pairing - 1];
    require(entrants !== undefined, "pairing", "there is no such pairing");
    require(!hasResult || scores.length === entrants.length, "scores", "there is not one for each seat");
    if (hasResult) this.results.set(pairing, {entrants, scores, flags});
    else this.results.delete(pairing);
  }

  // Section 4.
  table() {
    const {points: rule, tie_breaks: tieBreaks} = this.terms;
    const entrants = range(this.players.length).filter((one) => !this.struck.has(one));
    const counted = [...this.results.values()].filter(
      ({entrants: seated}) => seated.length > 2 || !seated.some((one) => this.struck.has(one)),
    );
    const points = new Map(entrants.map((one) => [one, 0]));
    for (const {entrants: seated, scores} of counted)
      pointsOf(rule, scores).forEach((gained, seat) => {
        if (points.has(seated[seat])) points.set(seated[seat], points.get(seated[seat]) + gained);
      });
    let groups = divided(entrants, (one) => points.get(one));
    for (const tieBreak of tieBreaks)
      groups = groups.flatMap((group) => divided(group, (one) => VALUES[tieBreak](one, {counted, points, group})));
    let above = 0;
    return groups.flatMap((group) => {
      const place = above + 1;
      above += group.length;
      return group.map((one) => ({
        place,
        player: this.players[one],
        points: points.get(one),
        sharing: group.length,
      }));
    });
  }
}

function divided(group, rank) {
  const parts = new Map();
  for (const one of group) {
    const value = rank(one);
    parts.set(value, [...(parts.get(value) ?? []), one]);
  }
  return [...parts.keys()].sort((one, other) => other - one).map((value) => parts.get(value));
}

function pointsOf(rule, scores) {
  const worth = scores.length === 2 ? [2, 0] : rule === "winner" ? [12, 0, 0, 0] : [6, 4, 2, 0];
  return scores.map((score) => {
    const better = scores.filter((other) => other > score).length;
    const equal = scores.filter((other) => other === score).length;
    return total(worth.slice(better, better + equal)) / equal;
  });
}

const ofEntrant = (one, counted) =>
  counted
    .filter(({entrants}) => entrants.includes(one))
    .map(({entrants, scores}) => ({entrants, scores, score: scores[entrants.indexOf(one)]}));
const timesAtPlace = (one, counted, place) =>
  ofEntrant(one, counted).filter(
    ({scores, score}) =>
      scores.filter((other) => other > score).length === place - 1 && scores.filter((s) => s === score).length === 1,
  ).length;
const overOthers = (one, counted, weightOf) =>
  total(
    ofEntrant(one, counted).flatMap(({entrants, scores, score}) =>
      entrants.map((other, seat) =>
        other === one ? 0 : weightOf(other) * (1 + (score > scores[seat]) - (score < scores[seat])),
      ),
    ),
  );
const VALUES = {
  wins: (one, {counted}) => timesAtPlace(one, counted, 1),
  "second-places": (one, {counted}) => timesAtPlace(one, counted, 2),
  "sonneborn-berger": (one, {counted, points}) => overOthers(one, counted, (other) => points.get(other) ?? 0),
  mutual: (one, {counted, group}) => overOthers(one, counted, (other) => Number(group.includes(other))),
  "fewest-flags": (one, {counted}) =>
    -total(counted.map(({entrants, flags}) => flags.filter((seat) => entrants[seat] === one).length)),
};

// Section 2.1.
function sizesOf(form, seats) {
  if (form === "all-play-all" && seats === 2) return range(17).slice(3);
  if (form === "shifted" && (seats === 2 || seats === 4)) return range(65).slice(5);
  if (form === "perfect" && seats === 4) return [5, 9, 13, 17];
  if (form === "whist" && seats === 4) return [8, 12, 16];
  return [];
}

function scheduleOf(form, seats, size) {
  if (form === "all-play-all") return allPlayAll(size);
  if (form === "perfect") return perfect(size);
  if (form === "whist") return whist(size);
  const tables =
    seats === 2
      ? [
          [0, 1],
          [0, 2],
        ]
      : [numbersOf(FIRST_TABLES[size] ?? "0 1 4 6")];
  return tables.flatMap((table) => range(size).map((shift) => table.map((number) => (number + shift) % size)));
}

function allPlayAll(size) {
  const places = size + (size % 2);
  const pairings = [];
  for (let round = 1; round < places; round++)
    for (let first = 1; first < places; first++) {
      const modulo = (round - first + places - 1) % (places - 1);
      const second = modulo + 1 === first ? places : modulo + 1;
      if (first >= second || second > size) continue;
      const isFirstLower = second === places ? first <= places / 2 : (first + second) % 2 === 1;
      pairings.push(isFirstLower ? [first - 1, second - 1] : [second - 1, first - 1]);
    }
  return pairings;
}

function perfect(size) {
  let power = 1;
  const powers = size === 9 ? POWERS_OF_NINE : [];
  for (; powers.length < size - 1; power = (power * (size === 17 ? 3 : 2)) % size) powers.push(power);
  const sum = (one, other) =>
    size === 9 ? ((one + other) % 3) + 3 * ((Math.floor(one / 3) + Math.floor(other / 3)) % 3) : (one + other) % size;
  const step = (size - 1) / 4;
  return range(size).flatMap((round) =>
    range(step).map((first) => range(4).map((turn) => sum(powers[first + turn * step], round))),
  );
}

function whist(size) {
  const [tables, digits] = WHIST[size];
  const turns = [...digits].map(Number);
  return range(size - 1).flatMap((round) =>
    tables.split(", ").map((text) => {
      const moved = numbersOf(text).map((number) => (number === size - 1 ? number : (number + round) % (size - 1)));
      const turn = turns.shift();
      return [...moved.slice(turn), ...moved.slice(0, turn)];
    }),
  );
}
