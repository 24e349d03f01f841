// Acting on a match beside moving: join, resign, call off, draws, taking back, time.

import {call, newKey} from "./api.js";

const at = (id) => document.getElementById(id);

// `version()` is that of the match shown, `mark()` what the page has told of it, `refresh()` shows how it stands now,
// `recover(problem)` tells what failed.
export function takeActs({page, api, version, mark, refresh, recover}) {
  page.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-act]");
    const act = button?.dataset;
    if (!act) return;
    const chosen = [...(button.form?.querySelectorAll("select") || [])];
    if (act.ask && !(await sure({...act, ask: filledIn(act.ask, chosen)}))) return;
    const body = act.body
      ? JSON.parse(act.body)
      : Object.fromEntries(chosen.map(({name, value}) => [name, Number(value)]));
    const other = act.match && `/api/v1/matches/${act.match}`; // the rematch, whose version the page does not show
    const condition = act.act === "joins" || other ? {} : {"If-Match": `"${version()}"`};
    try {
      const answer = await call("POST", `${other || api}/${act.act}`, body, {
        "Idempotency-Key": newKey(),
        ...condition,
      });
      if (act.act === "joins") location.assign(`${location.pathname}?since=${mark()}`);
      else if (act.act === "rematches") location.assign(`/matches/${answer.id}?since=0`);
      else await refresh();
    } catch (problem) {
      await recover(problem);
    }
  });
}

// Returns the question with the words of what is chosen: "Give {seat} {seconds}?"
function filledIn(question, chosen) {
  return chosen.reduce(
    (text, {name, selectedOptions: [option]}) => text.replace(`{${name}}`, option.textContent),
    question,
  );
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
