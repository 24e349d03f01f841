// The settings of notices: which kind is sent when, by mail and by push.

import {call, clearProblem, showProblem} from "./api.js";

const timing = document.getElementById("timing");
const status = document.getElementById("timing-status");
const {is_quiet: isQuiet, quiet_since: since, quiet_until: until} = timing.elements;

timing.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(timing);
  status.textContent = "";
  const button = timing.querySelector("button.primary");
  button.disabled = true;
  try {
    await call("PUT", "/api/v1/me/notice-settings", chosen());
    status.textContent = "Saved.";
  } catch (problem) {
    showProblem(timing, problem);
  }
  button.disabled = false;
});

timing.addEventListener("change", () => {
  status.textContent = "";
  allowHours();
});

function chosen() {
  const body = {
    digest_hour: Number(timing.elements.digest_hour.value),
    remind_before_h: Number(timing.elements.remind_before_h.value),
    chat_text: timing.elements.chat_text.checked,
    who_may_invite: timing.elements.who_may_invite.value,
    quiet: isQuiet.checked ? {since: Number(since.value), until: Number(until.value)} : null,
  };
  for (const select of timing.querySelectorAll("table select")) {
    const [channel, kind] = select.name.split(".");
    body[channel] ??= {};
    body[channel][kind] = select.value;
  }
  return body;
}

function allowHours() {
  since.disabled = until.disabled = !isQuiet.checked;
}

allowHours();
