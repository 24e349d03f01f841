// Actions on a match other than moves: join, resign, abort, draws, takebacks, time.

import {call, newKey, sendSigned} from "./api.js";

const at = (id) => document.getElementById(id);
const SIGNED = {resignation: "player-resigned", "draw-offers": "draw-offered", "draw-acceptance": "draw-accepted"};

// `subject()` is the match as it is shown (signing.js), `mark()` how much of it the page has announced, `refresh()` shows the current state,
// `recover(problem)` reports a failure.
export function bindActions({page, api, subject, mark, refresh, recover}) {
  page.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-act]");
    const act = button?.dataset;
    if (!act) return;
    const chosen = [...(button.form?.querySelectorAll("select") || [])];
    if (act.ask && !(await confirmAct({...act, ask: fillIn(act.ask, chosen)}))) return;
    const body = act.body
      ? JSON.parse(act.body)
      : Object.fromEntries(chosen.map(({name, value}) => [name, Number(value)]));
    const other = act.match && `/api/v1/matches/${act.match}`; // the rematch, whose version is not on this page
    const condition = act.act === "joins" || other ? {} : {"If-Match": `"${subject().version}"`};
    const signed = SIGNED[act.act];
    const send = async (signer) =>
      call("POST", `${other || api}/${act.act}`, signer ? {...body, signed: await signer.signed(signed)} : body, {
        "Idempotency-Key": newKey(),
        ...condition,
      });
    try {
      const answer = await (signed ? sendSigned(subject(), send) : send());
      if (act.act === "joins") location.assign(`${location.pathname}?since=${mark()}`);
      else if (act.act === "rematches") location.assign(`/matches/${answer.id}?since=0`);
      else await refresh();
    } catch (problem) {
      await recover(problem);
    }
  });
}

// Fills the texts of the chosen options into a question such as "Give {seat} {seconds}?".
function fillIn(question, chosen) {
  return chosen.reduce(
    (text, {name, selectedOptions: [option]}) => text.replace(`{${name}}`, option.textContent),
    question,
  );
}

// Asks for confirmation of an irreversible action; resolves to the answer.
export function confirmAct({ask, consequence, yes}) {
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
