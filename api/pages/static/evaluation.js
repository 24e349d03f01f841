// Asks the engine about the position on the analysis board. It is offered beside a finished match only.

import {whenMade} from "./made.js";

const PANEL = "analysis";

// Adds the button that asks, and the place of the answer, to the panel of `analysis`, once.
export function offerEvaluation(analysis, api) {
  const panel = document.getElementById(PANEL);
  if (panel.querySelector("[data-engine]")) return;
  const [button, answer] = ["button", "p"].map((tag) => document.createElement(tag));
  const names = JSON.parse(panel.closest("[data-names]").dataset.names);
  Object.assign(button, {type: "button", className: "small", textContent: "Ask the engine"});
  button.dataset.engine = "";
  answer.setAttribute("role", "status");
  panel.querySelector("[data-analysis=where]").after(button, answer);
  button.addEventListener("click", ask);

  async function ask() {
    button.disabled = true;
    answer.textContent = "The engine thinks.";
    try {
      const {expected, best} = await whenMade(`${api}/evaluations`, {ply: analysis.ply, line: analysis.tree.path()});
      const points = names.map((name, seat) => `${name} ${expected[seat].toFixed(2)}`);
      answer.textContent = `Expected points: ${points.join(", ")}. Best play: ${best.join(", ")}.`;
    } catch ({message}) {
      answer.textContent = message;
    }
    button.disabled = false;
  }
}
