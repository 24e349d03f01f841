// Push notices in this browser: switched on and off on the settings page, and continued by later visits.

import {call, sentence, showProblem} from "./api.js";

const WORKER = "/service-worker.js";
const SUBSCRIPTIONS = "/api/v1/me/push-subscriptions";
const STORED = "push"; // in localStorage: the person and the id of the subscription; in sessionStorage: the sign-in
const POLL_INTERVAL_MS = 1000;
const MAX_POLLS = 20;

// Continues the subscription of this browser, if the person has switched it on: under another sign-in, or after the
// browser has lost it. A subscription that the person has removed elsewhere is not made again.
export async function resume(person, visit) {
  const id = storedId(person);
  try {
    const {items} = await call("GET", SUBSCRIPTIONS);
    if (!items.some((subscription) => subscription.id === id)) await forget();
    else if (Notification.permission === "granted") await subscribe(person, id);
    settle(visit);
  } catch {
    // Something cannot be reached: the next page tries again.
  }
}

// Notes that nothing is to be continued before the next sign-in.
function settle(visit) {
  sessionStorage.setItem(STORED, visit);
}

function storedId(person) {
  try {
    const [owner, id] = (localStorage.getItem(STORED) ?? "").split(" ");
    return owner === person ? id : undefined;
  } catch {
    return undefined; // storage is disabled
  }
}

// Subscribes this browser, replacing the subscription `before` if it is another one.
async function subscribe(person, before) {
  const key = bytes((await call("GET", "/api/v1/push-key")).key);
  const registration = await navigator.serviceWorker.register(WORKER);
  const {pushManager} = await ready(registration);
  const present = await pushManager.getSubscription();
  if (present && !equal(new Uint8Array(present.options.applicationServerKey ?? []), key)) await present.unsubscribe();
  const subscription = await pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
  const {endpoint, keys} = subscription.toJSON();
  const {id} = await call("POST", SUBSCRIPTIONS, {endpoint, keys, ...(before ? {replaces: before} : {})});
  localStorage.setItem(STORED, `${person} ${id}`);
}

// Resolves to the registration once its worker is active: `subscribe` needs one.
function ready(registration) {
  return registration.active ? registration : navigator.serviceWorker.ready;
}

async function forget() {
  localStorage.removeItem(STORED);
  const registration = await navigator.serviceWorker?.getRegistration(WORKER);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function equal(one, other) {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

// Why this browser cannot get notices; empty if it can.
function obstacle() {
  if (!window.isSecureContext) return "Browsers take notices only from pages with https.";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    const phone = /iPhone|iPad/.test(navigator.userAgent);
    return phone
      ? "On this device add Rookery to the home screen first, from this page, and open it there."
      : "This browser cannot show notices of pages that are not open.";
  }
  if (Notification.permission === "denied")
    return "You have forbidden notices of this site in this browser: allow them in the settings of the browser first.";
  return "";
}

function enable(section) {
  const {person} = section.dataset;
  const own = storedId(person);
  const listed = [...section.querySelectorAll("[data-subscription]")];
  const mine = listed.find((entry) => entry.dataset.subscription === own && !("ended" in entry.dataset));
  if (mine) mine.querySelector("[data-this]").hidden = false;
  for (const item of listed) enableItem(item, section, item === mine);
  const on = document.getElementById("push-on");
  if (on) enableSwitch(on, section, own, mine); // absent where the server sends no push notices
}

function enableSwitch(on, section, own, mine) {
  const {person} = section.dataset;
  const here = document.getElementById("push-here");
  here.textContent = mine ? "This browser gets your notices." : obstacle();
  on.hidden = Boolean(here.textContent);
  on.addEventListener("click", () =>
    attempt(on, section, async () => {
      if ((await Notification.requestPermission()) !== "granted") {
        on.hidden = true;
        here.textContent = obstacle() || "The browser has not allowed it.";
        return;
      }
      await subscribe(person, own);
      settle(document.getElementById("my-matches").dataset.visit);
      location.reload();
    }),
  );
}

function enableItem(item, section, isMine) {
  const path = `${SUBSCRIPTIONS}/${item.dataset.subscription}`;
  const [remove, test] = ["remove", "test"].map((name) => item.querySelector(`[data-${name}]`));
  remove.addEventListener("click", () =>
    attempt(remove, section, async () => {
      await call("DELETE", path);
      if (isMine) await forget();
      location.reload();
    }),
  );
  test?.addEventListener("click", () =>
    attempt(test, section, async () => {
      const health = item.querySelector("[data-health]");
      const before = Number(health.dataset.health);
      await call("POST", `${path}/tests`, {});
      health.textContent = "A test notice is on its way.";
      await showAnswer(item.dataset.subscription, before, health);
    }),
  );
}

// Shows the outcome of a test notice once it is known; `before` is the instant of the answer before it.
async function showAnswer(id, before, health) {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    const subscription = (await call("GET", SUBSCRIPTIONS)).items.find((candidate) => candidate.id === id);
    const answeredAt = Date.parse(subscription?.answered_at ?? "1970-01-01T00:00:00Z");
    if (subscription && answeredAt === before) continue;
    health.textContent = sentence(subscription?.ended || subscription?.answer || "It has been removed");
    health.dataset.health = answeredAt;
    return;
  }
  health.textContent = "The test notice has not been sent yet. Reload this page later to see what became of it.";
}

async function attempt(button, section, act) {
  button.disabled = true;
  try {
    await act();
  } catch (problem) {
    const refusedHere = problem.status === undefined; // by the browser, not by the server
    showProblem(section, {errors: {}, message: `${refusedHere ? "The browser says: " : ""}${problem.message}`});
  }
  button.disabled = false;
}

const section = document.getElementById("push");
if (section) enable(section);
