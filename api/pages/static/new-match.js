// The form for a new match: shows the rulesets of the chosen game and the seats of its setup, sent in turn order.

import {call, clearProblem, newKey, showProblem} from "./api.js";
import {terms} from "./terms.js";

const form = document.getElementById("new-match");
const key = newKey();
let lots = {};

let ratedChosen = false; // by the person

form.addEventListener("change", ({target, isTrusted}) => {
  if (target.dataset.part === "kind") showParts(target.closest(".seat-choice"));
  if (target.id === "rated") ratedChosen ||= isTrusted;
  else if (target.name === "game" || target.name.startsWith("setup-")) showKind();
  showConsequences();
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(form);
  const [game, setup] = chosenKind();
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

// The chosen game, and its setup.
function chosenKind() {
  const game = form.elements.game.value;
  const chosen = form.querySelector(`[name="setup-${game}"]:checked`);
  return [game, chosen?.value ?? form.querySelector(`[data-kind^="${game}/"]`).dataset.kind.split("/")[1]];
}

function showKind() {
  const [game, setup] = chosenKind();
  for (const fieldset of form.querySelectorAll("fieldset[data-kind], fieldset[data-of]")) {
    const {kind = `${game}/${setup}`, of = game} = fieldset.dataset;
    fieldset.hidden = fieldset.disabled = kind !== `${game}/${setup}` || of !== game;
  }
}

// Says which limit the chosen opponents would exceed, and proposes a rating only for those who know the computer.
function showConsequences() {
  const seats = [...shownSeats().querySelectorAll(".seat-choice")].map(seatOf);
  const levels = seats.filter(({kind}) => kind === "opponent").map(({level}) => level);
  const strongest = Math.max(0, ...levels);
  for (const line of form.querySelectorAll("[data-limit]"))
    line.hidden = strongest < (line.dataset.limit === "long" ? Number(form.dataset.long) : 1);
  const rated = document.getElementById("rated");
  const alone = seats.every(({kind}) => kind === "me" || kind === "opponent");
  if (!("new" in form.dataset) || ratedChosen || rated.disabled || rated.checked !== alone) return;
  rated.checked = !alone;
  rated.dispatchEvent(new Event("change", {bubbles: true}));
}

// The chosen ruleset; nothing for a game with only one.
function rulesetOf(game) {
  const chosen = form.querySelector(`[name="ruleset-${game}"]:checked`);
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
