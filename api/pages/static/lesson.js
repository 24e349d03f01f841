// A lesson or a row of puzzles: figures one after the other, and ticks for what has been done, kept in this browser.

import {FigurePlayer} from "./figure.js";
import {tick} from "./ticks.js";

const page = document.getElementById("lesson");
const figures = JSON.parse(document.getElementById("figures").textContent);
const next = page.querySelector('[data-part="next"]');
const count = page.querySelector('[data-part="count"]');
const end = document.getElementById("lesson-end");
let shown = 0;

const player = new FigurePlayer(page.querySelector(".playable"), {
  solved() {
    if (shown + 1 < figures.length) next.hidden = false;
    else {
      tick(page.dataset.ticks, page.dataset.lesson);
      end.hidden = false;
    }
  },
});

next.addEventListener("click", () => {
  shown += 1;
  show();
  player.board.home();
});

function show() {
  next.hidden = true;
  count.textContent = `Figure ${shown + 1} of ${figures.length}`;
  player.start(figures[shown]);
}

show();
