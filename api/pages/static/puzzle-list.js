// Marks in the list of puzzles what has been done in this browser, and begins with what is due again, or is new.

import {attempts, isDue, words} from "./attempts.js";

const list = document.querySelector("[data-puzzles]");
const known = attempts(list.dataset.puzzles);
const entries = [...list.querySelectorAll("[data-id]")];
for (const entry of entries) entry.querySelector(".tick").textContent = words(known[entry.dataset.id]);
const next =
  entries.find(({dataset}) => isDue(known[dataset.id])) ??
  entries.find(({dataset}) => !known[dataset.id]) ??
  entries[0];
document.getElementById("next-puzzle").href = next.querySelector("a").href;
