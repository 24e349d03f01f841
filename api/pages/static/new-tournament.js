// The form that announces a tournament: offers the forms that the chosen game has.

import {call, clearProblem, newKey, showProblem} from "./api.js";
import {terms} from "./terms.js";

const form = document.getElementById("new-tournament");
const {elements} = form;
const key = newKey();

for (const field of form.querySelectorAll("[data-at]")) {
  const at = new Date(Number(field.dataset.at));
  at.setMinutes(-at.getTimezoneOffset(), 0, 0); // the value of such a field is a local time
  field.value = at.toISOString().slice(0, 16);
}

elements.kind.addEventListener("change", offerForms);
offerForms();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(form);
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    const answer = await call("POST", "/api/v1/tournaments", wanted(), {"Idempotency-Key": key});
    location.assign(`/tournaments/${answer.id}`);
  } catch (problem) {
    button.disabled = false;
    showProblem(form, problem);
  }
});

function offerForms() {
  const {seats} = elements.kind.selectedOptions[0].dataset;
  for (const option of elements.form.options) option.disabled = !option.dataset.seats.split(" ").includes(seats);
  if (elements.form.selectedOptions[0]?.disabled !== false)
    elements.form.value = [...elements.form.options].find((option) => !option.disabled).value;
  form.querySelector("[data-four]").hidden = seats !== "4";
}

function wanted() {
  const [game, setup] = elements.kind.value.split("/");
  const chosen = ["rated", "private"].map((name) => [name, document.getElementById(name).checked]);
  const texts = ["title", "form", "points", "start", "drop_out"].map((name) => [name, elements[name].value.trim()]);
  const numbers = ["least", "most", "at_once", "repeat_weeks"].map((name) => [name, number(name)]);
  const dates = ["starts_at", "latest_end"].map((name) => [name, instant(elements[name].value)]);
  const limits = ["rating_from", "rating_to", "finished", "flags"].map((name) => [name, number(`entry.${name}`)]);
  const entry = {...Object.fromEntries(limits), bots: document.getElementById("bots").checked};
  entry.finished ??= 0;
  return {game, setup, terms: terms(), entry, ...Object.fromEntries([...texts, ...numbers, ...dates, ...chosen])};
}

function number(name) {
  const {value} = elements[name];
  return value === "" ? null : Number(value);
}

function instant(local) {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : `${at.toISOString().slice(0, 19)}Z`;
}
