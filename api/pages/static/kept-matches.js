// Times without a connection: keeps the matches that await the person on this device, if the person wants it, and sends
// the moves that were entered meanwhile. service-worker.js answers with the kept pages.

import {call, newKey} from "./api.js";

const CACHE = "kept";
const PERSON = "kept-for"; // in localStorage: whose matches this device keeps
const MOVES = "kept-moves"; // in localStorage: the moves to be sent, in order
const MAX_MATCHES = 20;
const ON_DEMAND = ["arrows", "composer", "drag", "draft", "levels", "motion", "sounds", "zoom"].map(
  (name) => `${name}.js`,
);

export const keepsFor = (person) => Boolean(person) && localStorage.getItem(PERSON) === person;

export async function start(person) {
  localStorage.setItem(PERSON, person);
  await navigator.serviceWorker.register("/service-worker.js");
  await keep();
}

// Removes all that is kept, as when the person signs out.
export async function clear() {
  localStorage.removeItem(PERSON);
  localStorage.removeItem(MOVES);
  await caches.delete(CACHE);
}

// Keeps the present state of all matches that await the person, with the resources of their pages, and nothing else;
// nothing at all once the operator has switched the worker off.
export async function keep() {
  if (document.getElementById("my-matches")?.dataset.worker === "off") return clear();
  const {items} = await call("GET", `/api/v1/me/pending?limit=${MAX_MATCHES}`);
  const cache = await caches.open(CACHE);
  const paths = items.filter(({owed}) => owed === "move").map(({match}) => `/matches/${match.id}`);
  const wanted = new Set(ON_DEMAND.map((name) => new URL(name, import.meta.url).pathname));
  for (const path of ["/offline", ...paths]) {
    const page = await fetch(path, {headers: {Accept: "text/html"}, cache: "no-store"});
    if (!page.ok || page.redirected) continue;
    for (const [, named] of (await page.clone().text()).matchAll(/(?:src|href)="(\/static\/[^"]+)"/g))
      wanted.add(named);
    await cache.put(path, page);
    wanted.add(path);
  }
  for (const path of paths) {
    await cache.add(`/api/v1${path}/legal-moves`);
    wanted.add(`/api/v1${path}/legal-moves`);
  }
  const present = new Set((await cache.keys()).map(({url}) => new URL(url).pathname));
  await Promise.all([...wanted].filter((path) => !present.has(path)).map((path) => cache.add(path)));
  for (const path of present) if (!wanted.has(path)) await cache.delete(path);
}

const queued = () => JSON.parse(localStorage.getItem(MOVES) ?? "[]");

// Queues a move for the version for which it was meant.
export function queue({path, move, version, key = newKey()}) {
  const others = queued().filter((entry) => entry.path !== path);
  localStorage.setItem(MOVES, JSON.stringify([...others, {path, move, version, key}]));
}

// Sends the queued moves; resolves to a sentence about each that the server has taken or refused, with its match.
// Crash-safe: a move leaves the queue after the answer, and its key makes it count once.
export async function send() {
  const told = [];
  for (const {path, move, version, key} of queued()) {
    try {
      await call("POST", `/api/v1${path}/moves`, {move}, {"Idempotency-Key": key, "If-Match": `"${version}"`});
      told.push({path, text: `Your move ${move} was sent.`});
    } catch (problem) {
      if ([0, 401, 429, 503].includes(problem.status)) return told;
      const reason = problem.code === "stale-version" ? "The match has moved on." : problem.message;
      told.push({path, text: `Your move ${move} was not played. ${reason}`});
    }
    localStorage.setItem(MOVES, JSON.stringify(queued().filter((entry) => entry.key !== key)));
  }
  return told;
}

// Sends the queued moves, tells of them at the top of the page, and keeps the matches as they are then.
export async function goOn() {
  const told = [...JSON.parse(sessionStorage.getItem(MOVES) ?? "[]"), ...(await send())];
  sessionStorage.removeItem(MOVES);
  const main = document.querySelector("main");
  if (told.length && "asOf" in main.dataset) {
    sessionStorage.setItem(MOVES, JSON.stringify(told)); // told by the page as it is now
    return location.reload();
  }
  for (const {path, text} of told) {
    const notice = Object.assign(document.createElement("p"), {className: "notice", textContent: `${text} `});
    notice.setAttribute("role", "status");
    notice.append(Object.assign(document.createElement("a"), {href: path, textContent: "See the match"}));
    main.prepend(notice);
  }
  if (!("asOf" in main.dataset)) await keep();
}
