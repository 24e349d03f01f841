// A puzzle: a figure that counts the first attempt. A wrong move, a hint, or leaving after the first move is a miss. With
// an account the server is told of the first look and of the moves, and rates them; else this browser remembers.

import {call} from "./api.js";
import {attempts, isDue, record, takeOver, words} from "./attempts.js";
import {FigurePlayer} from "./figure.js";

const page = document.getElementById("puzzle");
const {puzzles, id, account} = page.dataset;
const before = account ? JSON.parse(page.dataset.known) : attempts(puzzles)[id];
const looked = account ? look() : null; // settles once the server knows of the first look
const played = [];
let counted = Boolean(before) && !isDue(before);

const player = new FigurePlayer(page.querySelector(".playable"), {
  accepted: (move) => played.push(move),
  wrong(move) {
    count(false, [...played, move]);
    return `${move} is possible, but there is a much better move. Try again.`;
  },
  solved() {
    count(true, played);
    document.getElementById("puzzle-end").hidden = false;
  },
});

const say = (name, text) => {
  page.querySelector(`[data-part=${name}]`).textContent = text;
};

async function look() {
  try {
    await takeOver(account, puzzles);
    const {rated, solved} = await call("POST", `${account}/${id}/looks`, {});
    if (solved === null) say("counts", rated ? "Your first attempt counts." : "Not rated.");
  } catch (problem) {
    say("counts", `Not rated. ${problem.message}`);
  }
}

function count(solved, moves, hint = false) {
  if (counted) return;
  counted = true;
  if (account) send(moves, hint);
  else record(puzzles, id, solved);
  if (!account && !solved) say("known", words(attempts(puzzles)[id]));
}

async function send(moves, hint) {
  await looked;
  try {
    const {attempt, before: from, after} = await call("POST", `${account}/${id}/attempts`, {moves, hint});
    say("known", words({...attempt, at: Date.parse(attempt.at), due: null}));
    const [old, now] = [from, after].map(({rating}) => Math.round(rating));
    say("counts", attempt.rated && !before ? `Your rating as a solver: ${old} → ${now}.` : "Not rated.");
  } catch (problem) {
    say("counts", `Not counted. ${problem.message}`);
  }
}

page.querySelector("[data-part=hint]").addEventListener("click", () => count(false, played, true));
addEventListener("pagehide", () => {
  if (counted || player.number === 0) return;
  if (!account) return count(false, played);
  counted = true;
  const headers = {"Content-Type": "application/json"};
  fetch(`${account}/${id}/attempts`, {
    method: "POST",
    keepalive: true,
    headers,
    body: JSON.stringify({moves: played, hint: false}),
  });
});
player.start(JSON.parse(document.getElementById("puzzle-figure").textContent));
say("known", words(before));
