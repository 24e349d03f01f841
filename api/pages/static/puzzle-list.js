// Marks attempted puzzles in the list, with the account or in this browser, and begins with one that is due again, or
// is new.

import {attempts, isDue, takeOver, words} from "./attempts.js";

const list = document.querySelector("[data-puzzles]");
const {puzzles, account} = list.dataset;
const here = attempts(puzzles);
const entries = [...list.querySelectorAll("[data-id]")];
const attemptOf = (entry) => JSON.parse(entry.dataset.known ?? "null") ?? here[entry.dataset.id];
for (const entry of entries) entry.querySelector(".tick").textContent = words(attemptOf(entry));
const next =
  entries.find((entry) => isDue(attemptOf(entry))) ?? entries.find((entry) => !attemptOf(entry)) ?? entries[0];
document.getElementById("next-puzzle").href = next.querySelector("a").href;
if (account) takeOver(account, puzzles).catch(() => {}); // the next visit tries again
