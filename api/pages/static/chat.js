// The chat of a match. Messages are read from the API; the live stream only signals new ones.

import {call, newKey} from "./api.js";

// Returns a function to call when there may be new messages.
export function chat(section, api) {
  const list = section.querySelector("ol");
  const form = section.querySelector(":scope > form");
  const error = section.querySelector("[role=alert]");
  let last = 0;
  let reading = Promise.resolve();
  let key = newKey(); // of the message being written, so that a retry after a lost answer posts it once

  function read() {
    reading = reading.then(more, more).catch((problem) => {
      error.textContent = problem.message;
    });
    return reading;
  }

  async function more() {
    for (let next = last; next !== null; ) {
      const page = await call("GET", `${api}/chat?after=${next}`);
      page.items.forEach(show);
      ({next} = page);
    }
    error.textContent = "";
  }

  function show({id, at, author, seat, text, hidden}) {
    if (id <= last) return;
    last = id;
    const item = document.createElement("li");
    const when = new Date(at);
    const instant = element(
      "time",
      new Intl.DateTimeFormat("en-GB", {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"}).format(
        when,
      ),
    );
    instant.dateTime = at;
    const words = element("p", hidden ? "An arbiter has hidden this message." : text);
    if (text) import("./chat-links.js").then(({link}) => link(words));
    if (hidden) words.className = "soft";
    item.append(element("b", author.name), seat === null ? " (watching) " : " ", instant, words);
    const {reader} = section.dataset;
    if (reader && author.id !== reader && text) item.append(reporting(id, item));
    list.append(item);
    list.parentElement.scrollTop = list.parentElement.scrollHeight;
  }

  // Returns a disclosure with a form that reports a message; the reporter no longer sees a reported message.
  function reporting(id, item) {
    const [details, report, field] = ["details", "form", "input"].map((name) => document.createElement(name));
    details.append(element("summary", "Report"), report);
    field.required = true;
    field.maxLength = 500;
    field.setAttribute("aria-label", "What is wrong with this message");
    field.placeholder = "What is wrong with it";
    report.append(field, element("button", "Send"));
    report.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await call("POST", `${api}/chat/${id}/reports`, {reason: field.value});
        item.replaceChildren(element("p", "You have reported this message."));
        item.tabIndex = -1;
        item.focus();
      } catch (problem) {
        error.textContent = problem.message;
      }
    });
    return details;
  }

  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = form.querySelector("textarea");
    if (!field.value.trim()) return;
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await call("POST", `${api}/chat`, {text: field.value}, {"Idempotency-Key": key});
      key = newKey();
      field.value = "";
      await read();
    } catch (problem) {
      error.textContent = problem.message;
    }
    button.disabled = false;
  });

  form?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.closest("textarea")) return;
    event.preventDefault();
    form.requestSubmit();
  });

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") read();
  });
  read();
  return read;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
