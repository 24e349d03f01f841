// Updates the number of matches that await the visitor while the page is visible.

import {call} from "./api.js";

const POLL_INTERVAL_MS = 60000;
const MAX_COUNT = 30;

export function watchCount(link) {
  let looked = Date.now();

  async function look() {
    if (document.visibilityState !== "visible" || Date.now() - looked < POLL_INTERVAL_MS / 4) return;
    looked = Date.now();
    try {
      const pending = await call("GET", `/api/v1/me/pending?limit=${MAX_COUNT}`);
      show(pending.next ? `${MAX_COUNT}+` : String(pending.items.length || ""));
    } catch {
      // Keep the number; the next poll tries again.
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

  setInterval(look, POLL_INTERVAL_MS);
  document.addEventListener("visibilitychange", look);
}
