// Whether this device signs for the person, on the settings page. Keys are removed by site.js.

import {clearProblem, showProblem} from "./api.js";
import {forgetKey, keyHere, makeKey} from "./signing.js";

const section = document.getElementById("player-keys");
const form = document.getElementById("new-player-key");

function showState() {
  const here = keyHere();
  const item = here && section.querySelector(`[data-key="${here}"]`);
  if (here && !item) forgetKey(); // it was removed
  if (item) item.querySelector("[data-here]").hidden = false;
  form.hidden = Boolean(item);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(section);
  const {name, password} = form.elements;
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await makeKey(name.value.trim(), password.value);
    location.reload();
  } catch (problem) {
    showProblem(form, problem);
  }
  button.disabled = false;
});

showState();
