// Private notes about a match, saved when the field loses the focus.

import {call} from "./api.js";

export function bindNotes(details, api) {
  const field = details.querySelector("textarea");
  const told = details.querySelector("[role=status]");
  let kept = null; // the text on the server; null until loaded

  async function load() {
    if (!details.open || kept !== null) return;
    try {
      ({text: kept} = await call("GET", `${api}/notes`));
      field.value = kept;
      field.disabled = false;
      told.textContent = "";
    } catch (problem) {
      told.textContent = problem.message;
    }
  }

  async function keep() {
    const text = field.value;
    if (kept === null || text === kept) return;
    told.textContent = "Saving …";
    try {
      ({text: kept} = await call("PUT", `${api}/notes`, {text}));
      told.textContent = "Saved.";
    } catch (problem) {
      told.textContent = `Not saved. ${problem.message}`;
    }
  }

  details.addEventListener("toggle", load);
  load();
  field.addEventListener("input", () => {
    told.textContent = field.value === kept ? "" : "Not saved yet.";
  });
  field.addEventListener("change", keep);
  addEventListener("beforeunload", (event) => {
    if (kept !== null && field.value !== kept) event.preventDefault();
  });
}
