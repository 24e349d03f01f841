// The settings page: calendar, vacations and tokens. Each change is sent to the API at once.

import {call, clearProblem, showProblem} from "./api.js";

const DAY_MS = 86400000;

const calendar = document.getElementById("calendar");
const vacation = document.getElementById("vacation");
const zone = document.getElementById("zone");
const status = document.getElementById("calendar-status");
let savedZone = zone.value; // in which vacation days are counted

calendar.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(calendar);
  const {elements} = calendar;
  const wanted = {
    time_zone: zone.value,
    free_days: [...calendar.querySelectorAll("[name=free_days]:checked")].map((day) => Number(day.value)),
    auto_vacation: elements.auto_vacation.checked,
    plays_forced: elements.plays_forced.checked,
  };
  status.textContent = "";
  await sent(calendar, async () => {
    ({time_zone: savedZone} = await call("PUT", "/api/v1/me/calendar", wanted));
    status.textContent = "Saved.";
  });
});

vacation.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(vacation);
  const {since, until} = vacation.elements;
  if (!until.value) return showProblem(vacation, {errors: {until: ["choose the last day"]}, message: ""});
  const wanted = {until: midnight(until.value, 1)};
  if (since.value) wanted.since = midnight(since.value, 0);
  await sent(vacation, async () => {
    await call("POST", "/api/v1/me/vacations", wanted);
    location.reload();
  });
});

document.getElementById("vacations").addEventListener("click", async (event) => {
  const which = event.target.closest("[data-cancel]")?.dataset.cancel;
  if (which)
    await sent(vacation, async () => {
      await call("DELETE", `/api/v1/me/vacations/${encodeURIComponent(which)}`);
      location.reload();
    });
});

document.getElementById("new-token").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  clearProblem(form);
  await sent(form, async () => {
    const {label, secret} = await call("POST", "/api/v1/me/tokens", {label: form.elements.label.value.trim()});
    form.reset();
    const [notice, code] = ["p", "code"].map((name) => document.createElement(name));
    notice.textContent = `The secret of ${label}. Copy it now: it is shown only once.`;
    code.textContent = secret;
    document.getElementById("secret").replaceChildren(notice, code);
  });
});

// Sends a change; a refusal is shown at its field.
async function sent(form, send) {
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    await send();
  } catch (problem) {
    showProblem(form, problem);
  }
  button.disabled = false;
}

// Returns the instant at which the day `later` days after the given one begins in the zone.
function midnight(day, later) {
  const wanted = Date.parse(`${day}T00:00:00Z`) + later * DAY_MS;
  let at = wanted;
  for (let step = 0; step < 3; step += 1) at += wanted - wall(at);
  return new Date(at).toISOString();
}

// Returns the local time of the zone at an instant, as if it were UTC.
function wall(at) {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: savedZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const {year, month, day, hour, minute, second} = Object.fromEntries(
    format.formatToParts(new Date(at)).map(({type, value}) => [type, Number(value)]),
  );
  return Date.UTC(year, month - 1, day, hour, minute, second) + (at % 1000);
}

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const hint = document.getElementById("here");
if (here !== zone.value && [...zone.options].some((option) => option.value === here)) {
  hint.querySelector("b").textContent = here;
  hint.querySelector("button").addEventListener("click", () => {
    zone.value = here;
    hint.hidden = true;
  });
  hint.hidden = false;
}

calendar.addEventListener("change", () => {
  status.textContent = "";
});
