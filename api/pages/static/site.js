// Forms and buttons that name an API call: data-api="METHOD /path" and data-next, the page that follows ("#": the same).
// With data-shows-answer the detail of the answer is shown first, in place of the form; with data-said, its text.

import {call, clearProblem, sendSigned, showProblem} from "./api.js";
import {showLocalTimes} from "./clock.js";
import {watchCount} from "./pending-badge.js";

for (const form of document.querySelectorAll("form[data-api]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(form, bodyOf(form), form, form.querySelector("button:not([type=button])"));
  });
}

for (const button of document.querySelectorAll("button[data-api]")) {
  const scope = button.closest("section, .narrow, main") || document.querySelector("main");
  const body =
    "timeZone" in button.dataset ? {time_zone: timeZone()} : button.dataset.api.startsWith("DELETE") ? undefined : {};
  button.addEventListener("click", () => act(button, body, scope, button));
}

// A choice that decides which other fields apply: the fields of other choices are hidden and not sent.
for (const select of document.querySelectorAll("select[data-shows]")) {
  const show = () => {
    for (const part of select.form.querySelectorAll(`[data-${select.dataset.shows}]`)) {
      part.hidden = part.dataset[select.dataset.shows] !== select.value;
    }
  };
  select.addEventListener("change", show);
  show();
}

for (const select of document.querySelectorAll("select[data-submits]")) {
  select.addEventListener("change", () => select.form.submit());
}

showLocalTimes(document);
enableClosing(document.getElementById("menu"));

const mine = document.getElementById("my-matches");
if (mine) {
  watchCount(mine);
  const {person, visit} = mine.dataset;
  try {
    // Push notices that are shown here go on after another sign-in, and when the browser has lost them.
    if (localStorage["kept-for"])
      import("./kept-matches.js").then(({clear, goOn, keepsFor}) => {
        if (!keepsFor(person)) return clear();
        addEventListener("online", () => goOn().catch(() => {}));
        return goOn().catch(() => {}); // without a connection
      });
    if (localStorage.push?.startsWith(person) && sessionStorage.push !== visit)
      import("./push.js").then(({resume}) => resume(person, visit));
  } catch {
    // Storage is disabled.
  }
}

// A page restored from the browser's cache is outdated: reload it.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

for (const field of document.querySelectorAll("input[data-time-zone]")) field.value = timeZone();

// The time zone of the browser, empty if unknown.
function timeZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

// The fields as JSON: numbers and fields with data-json as values, empty ones with data-null as null, boxes with a value and "name.0", "name.1" as a list.
function bodyOf(form) {
  const body = {};
  for (const input of form.elements) {
    if (!input.name || input.closest("[hidden]")) continue;
    const [name, place] = input.name.split(".");
    let value = input.value;
    if ("json" in input.dataset) value = JSON.parse(value);
    else if (input.type === "checkbox" && input.hasAttribute("value"))
      value = [...(body[name] ?? []), ...(input.checked ? [value] : [])];
    else if (input.type === "checkbox") value = input.checked;
    else if (input.multiple) value = Array.from(input.selectedOptions, (option) => option.value);
    else if (input.type === "number") value = value === "" ? null : Number(value);
    else if ("null" in input.dataset) value ||= null;
    if (place === undefined) body[name] = value;
    else {
      body[name] ??= [];
      body[name][Number(place)] = value;
    }
  }
  return body;
}

function showAnswer(source, words) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  notice.textContent = words;
  const onwards = document.createElement("a");
  onwards.href = source.dataset.next;
  onwards.className = "button";
  onwards.textContent = "Continue";
  source.replaceChildren(notice, onwards);
  onwards.focus();
}

async function act(source, body, scope, button) {
  const [method, path] = source.dataset.api.split(" ");
  clearProblem(scope);
  button.disabled = true;
  try {
    const {signs} = source.dataset;
    const send = async (signer) => call(method, path, signer ? {...body, signed: await signer.signed(signs)} : body);
    const answer = await (signs ? sendSigned(source.dataset, send) : send());
    if (method === "DELETE" && path.startsWith("/api/v1/sessions") && localStorage["kept-for"])
      await import("./kept-matches.js").then(({clear}) => clear());
    const words = source.dataset.said ?? ("showsAnswer" in source.dataset ? answer?.detail : "");
    if (words) showAnswer(source, words);
    else if (source.dataset.next === "#") location.reload();
    else location.assign(source.dataset.next);
  } catch (problem) {
    button.disabled = false;
    showProblem(scope, problem);
  }
}

// The menu of the header is a <details>, which opens without a script. Escape, a click elsewhere and leaving close it.
function enableClosing(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation(); // Escape has another meaning on the match page
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", ({relatedTarget}) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  document.addEventListener("pointerdown", ({target}) => {
    if (!menu.contains(target)) menu.open = false;
  });
}
