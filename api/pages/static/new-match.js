// The form for a new match: shows the rulesets of the chosen game and the seats of its setup, sent in turn order.

import {call, clearProblem, newKey, showProblem} from "./api.js";
import {terms} from "./terms.js";

const form = document.getElementById("new-match");
const key = newKey();
let lots = {};

form.addEventListener("change", (event) => {
  if (event.target.name === "kind") showKind(event.target.value);
  if (event.target.dataset.part === "kind") showParts(event.target.closest(".seat-choice"));
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(form);
  const [game, setup] = form.elements.kind.value.split("/");
  const wanted = [...shownSeats().querySelectorAll(".seat-choice")].map(seatOf);
  const order = document.getElementById("shuffle").checked ? drawLots(wanted) : wanted.map((_, place) => place);
  const seats = order.map((place) => wanted[place]);
  const match = {
    game,
    setup,
    ...rulesetOf(game),
    seats,
    rated: document.getElementById("rated").checked,
    private: document.getElementById("private").checked,
    terms: terms(),
  };
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    const created = await call("POST", "/api/v1/matches", match, {"Idempotency-Key": `${key}-${digest(match)}`});
    location.assign(`/matches/${created.id || created.match}?since=0`);
  } catch (problem) {
    button.disabled = false;
    problem.errors = Object.fromEntries(
      Object.entries(problem.errors).map(([field, messages]) => [asShown(field, order), messages]),
    );
    showProblem(form, problem);
  }
});

for (const seat of form.querySelectorAll(".seat-choice")) showParts(seat);

function showKind(kind) {
  const [game] = kind.split("/");
  for (const fieldset of form.querySelectorAll("fieldset[data-kind], fieldset[data-rulesets]")) {
    const {kind: seatsOf = kind, rulesets = game} = fieldset.dataset;
    fieldset.hidden = fieldset.disabled = seatsOf !== kind || rulesets !== game;
  }
}

// The chosen ruleset; nothing for a game with only one.
function rulesetOf(game) {
  const chosen = form.querySelector(`fieldset[data-rulesets="${game}"] :checked`);
  return chosen ? {ruleset: Number(chosen.value)} : {};
}

function shownSeats() {
  return form.querySelector("fieldset[data-kind]:not([hidden])");
}

function showParts(seat) {
  const kind = seat.querySelector('[data-part="kind"]').value;
  for (const part of seat.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== kind;
}

function seatOf(seat) {
  const part = (name) => seat.querySelector(`[data-part="${name}"]`).value;
  const kind = part("kind");
  if (kind === "opponent") return {kind, level: Number(part("level"))};
  if (kind === "player") return {kind, name: part("name").trim()};
  return {kind};
}

// Shuffles the seats, once for each set of choices: the same form sent twice must create the same match.
function drawLots(wanted) {
  const choices = JSON.stringify(wanted);
  if (lots.choices !== choices) {
    const order = wanted.map((_, place) => place);
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = crypto.getRandomValues(new Uint32Array(1))[0] % (last + 1);
      [order[last], order[other]] = [order[other], order[last]];
    }
    lots = {choices, order};
  }
  return lots.order;
}

// Translates the seat of an error from the order sent to the order shown.
function asShown(field, order) {
  return field.replace(/^seats\.(\d+)/, (_, place) => `seats.${order[place]}`);
}

// Pressing the button twice must create one match; different choices create different ones.
function digest(match) {
  let hash = 0;
  for (const letter of JSON.stringify(match)) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0;
  return (hash >>> 0).toString(16);
}
