// The ledger of notices: sends a notice again.

import {call, sentence} from "./api.js";

for (const button of document.querySelectorAll("[data-again]")) {
  button.addEventListener("click", async () => {
    const {again, channel, target} = button.dataset;
    const general = document.querySelector('[data-error-for=""]');
    general.textContent = "";
    button.disabled = true;
    try {
      await call("POST", `/api/v1/me/notices/${again}/deliveries`, {channel, target});
      location.hash = again;
      location.reload();
    } catch (problem) {
      button.disabled = false;
      general.textContent = sentence(problem.message);
      general.scrollIntoView({block: "nearest"});
    }
  });
}
