// A lesson: figures one after the other, and a tick when it is done, kept in this browser. The first figure comes with
// the page; the others are fetched at once, so that the lesson goes on without the server.

import {FigurePlayer} from "./figure.js";
import {tick} from "./ticks.js";

const page = document.getElementById("lesson");
const figures = Array.from({length: Number(page.dataset.figures)}, (_, place) =>
  place ? fetched(place + 1) : first(),
);
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
      end.scrollIntoView({block: "nearest"});
    }
  },
});

next.addEventListener("click", async () => {
  const figure = (await figures[shown + 1]) ?? (await fetched(shown + 2));
  if (!figure) return player.say("The server cannot be reached.", true);
  shown += 1;
  show(figure);
  player.board.home();
});

function first() {
  return JSON.parse(document.getElementById("first-figure").textContent);
}

// Resolves to null when the server cannot be reached.
async function fetched(number) {
  const answer = await fetch(`${location.pathname}/${number}`).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

function show(figure) {
  next.hidden = true;
  count.textContent = `Figure ${shown + 1} of ${figures.length}`;
  player.start(figure);
}

show(figures[0]);
