// Private notes about a match, saved when the field loses the focus.

import {call} from "./api.js";

export function bindNotes(details, api) {
  const field = details.querySelector("textarea");
  const status = details.querySelector("[role=status]");
  let saved = null; // the text on the server; null until loaded

  async function load() {
    if (!details.open || saved !== null) return;
    try {
      ({text: saved} = await call("GET", `${api}/notes`));
      field.value = saved;
      field.disabled = false;
      status.textContent = "";
    } catch (problem) {
      status.textContent = problem.message;
    }
  }

  async function keep() {
    const text = field.value;
    if (saved === null || text === saved) return;
    status.textContent = "Saving …";
    try {
      ({text: saved} = await call("PUT", `${api}/notes`, {text}));
      status.textContent = "Saved.";
    } catch (problem) {
      status.textContent = `Not saved. ${problem.message}`;
    }
  }

  details.addEventListener("toggle", load);
  load();
  field.addEventListener("input", () => {
    status.textContent = field.value === saved ? "" : "Not saved yet.";
  });
  field.addEventListener("change", keep);
  addEventListener("beforeunload", (event) => {
    if (saved !== null && field.value !== saved) event.preventDefault();
  });
}
