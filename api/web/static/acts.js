// Acting on a match beside moving: join, resign, call off, draws, taking back, time.

import {call, newKey} from "./api.js";

const at = (id) => document.getElementById(id);

// `version()` is that of the match shown, `refresh()` shows how it stands now, `recover(problem)` tells what failed.
export function takeActs({page, api, version, refresh, recover}) {
  page.addEventListener("click", async (event) => {
    const act = event.target.closest("[data-act]")?.dataset;
    if (!act || (act.ask && !(await sure(act)))) return;
    const condition = act.act === "joins" ? {} : {"If-Match": `"${version()}"`};
    try {
      const answer = await call("POST", `${api}/${act.act}`, JSON.parse(act.body || "{}"), {"Idempotency-Key": newKey(), ...condition});
      if (act.act === "joins") location.reload();
      else if (act.act === "rematches") location.assign(`/matches/${answer.id}`);
      else await refresh();
    } catch (problem) {
      await recover(problem);
    }
  });
}

// Asks before something that cannot be undone; resolves to the answer.
export function sure({ask, consequence, yes}) {
  at("ask-title").textContent = ask;
  at("ask-text").textContent = consequence;
  at("ask-yes").textContent = yes;
  const dialog = at("ask");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), {once: true});
  });
}

at("ask-yes").addEventListener("click", () => at("ask").close("yes"));
at("ask-no").addEventListener("click", () => at("ask").close(""));
