// A puzzle: a figure that counts the first attempt. A wrong move, a hint, or leaving after the first move is a miss.

import {attempts, isDue, record, words} from "./attempts.js";
import {FigurePlayer} from "./figure.js";

const page = document.getElementById("puzzle");
const {puzzles, id} = page.dataset;
const before = attempts(puzzles)[id];
let counted = Boolean(before) && !isDue(before);

const player = new FigurePlayer(page.querySelector(".playable"), {
  wrong(move) {
    miss();
    return `${move} is possible, but there is a much better move. Try again.`;
  },
  solved() {
    count(true);
    document.getElementById("puzzle-end").hidden = false;
  },
});

function count(solved) {
  if (!counted) record(puzzles, id, solved);
  counted = true;
}

function miss() {
  count(false);
  tell();
}

function tell() {
  page.querySelector("[data-part=known]").textContent = words(attempts(puzzles)[id]);
}

page.querySelector("[data-part=hint]").addEventListener("click", miss);
addEventListener("pagehide", () => player.number > 0 && count(false));
player.start(JSON.parse(document.getElementById("puzzle-figure").textContent));
tell();
