// Forms and buttons that name an API call: data-api="METHOD /path", data-next = where to go afterwards.

import {call, clearProblem, showProblem} from "./api.js";
import {keepCount} from "./awaiting.js";

for (const form of document.querySelectorAll("form[data-api]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(form, Object.fromEntries(new FormData(form)), form, form.querySelector("button:not([type=button])"));
  });
}

for (const button of document.querySelectorAll("button[data-api]")) {
  const scope = button.closest("section, .narrow, main") || document.querySelector("main");
  button.addEventListener("click", () => act(button, button.dataset.api.startsWith("DELETE") ? undefined : {}, scope, button));
}

for (const select of document.querySelectorAll("select[data-submits]")) {
  select.addEventListener("change", () => select.form.submit());
}

const mine = document.getElementById("my-matches");
if (mine) keepCount(mine);

// A page that the browser had put aside shows what was: look again.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

async function act(source, body, scope, button) {
  const [method, path] = source.dataset.api.split(" ");
  clearProblem(scope);
  button.disabled = true;
  try {
    await call(method, path, body);
    location.assign(source.dataset.next);
  } catch (problem) {
    button.disabled = false;
    showProblem(scope, problem);
  }
}
