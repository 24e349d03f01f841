// Keeps the page of a tournament up to date: asks for its version, and shows a later one unless somebody reads in it.

import {showLocalTimes} from "./clock.js";

const LOOK_MS = 20000;
const shown = document.getElementById("tournament");
const acts = document.getElementById("acts");
const actsShown = acts.innerHTML;
const api = `/api/v1/tournaments/${shown.dataset.tournament}`;

async function look() {
  if (document.visibilityState !== "visible" || shown.contains(document.activeElement)) return;
  try {
    const headers = {"If-None-Match": `"${shown.dataset.version}"`};
    const answer = await fetch(api, {headers, cache: "no-store"});
    if (answer.status !== 200) return;
    const page = await fetch(location.href, {cache: "no-store"});
    if (page.ok) show(new DOMParser().parseFromString(await page.text(), "text/html"));
  } catch {
    // Unreachable: the next look tries again.
  }
}

// The possible acts have changed: their buttons belong to a page that is loaded.
function show(fresh) {
  const later = fresh.getElementById("tournament");
  if (!later || fresh.getElementById("acts").innerHTML !== actsShown) return location.reload();
  for (const {id} of shown.querySelectorAll("details[open]")) fresh.getElementById(id)?.setAttribute("open", "");
  shown.dataset.version = later.dataset.version;
  shown.replaceChildren(...later.childNodes);
  showLocalTimes(shown);
}

setInterval(look, LOOK_MS);
document.addEventListener("visibilitychange", look);
