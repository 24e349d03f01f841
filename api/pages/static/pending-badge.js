// Keeps the number of matches that wait for the visitor up to date while the page is looked at.

import {call} from "./api.js";

const LOOK_EVERY_MS = 60000;
const MOST = 30;

export function keepCount(link) {
  let looked = Date.now();

  async function look() {
    if (document.visibilityState !== "visible" || Date.now() - looked < LOOK_EVERY_MS / 4) return;
    looked = Date.now();
    try {
      const pending = await call("GET", `/api/v1/me/pending?limit=${MOST}`);
      show(pending.next ? `${MOST}+` : String(pending.items.length || ""));
    } catch {
      // The number stays as it was; the next look asks again.
    }
  }

  function show(count) {
    const badge = link.querySelector(".count");
    if (badge.textContent === count) return;
    badge.textContent = count;
    badge.hidden = !count;
    badge.setAttribute("aria-label", `${count} waiting for you`);
    if (link.getAttribute("aria-current")) location.reload();
  }

  setInterval(look, LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", look);
}
