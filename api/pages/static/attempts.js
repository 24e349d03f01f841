// Attempts at puzzles, kept in this browser for people without an account: by id the result of the first attempt, when it
// was, and when the puzzle comes again. A puzzle that was missed comes again after 3, 10, 30 and 90 days; a repeat that is
// missed comes again after 3. domain/attempts.py does the same for accounts.

import {call} from "./api.js";

const DAY_MS = 24 * 3600 * 1000;
const REPEAT_DAYS = [3, 10, 30, 90];
const MAX_TAKEN_OVER = 200; // attempts in one request

export function attempts(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "{}");
  } catch {
    return {}; // storage is disabled
  }
}

export const isDue = (attempt, now = Date.now()) => Boolean(attempt?.due) && attempt.due <= now;

// Records an attempt. The first one counts, and later ones only when the puzzle was due again.
export function record(name, id, solved, now = Date.now()) {
  const all = attempts(name);
  const before = all[id];
  if (before && !isDue(before, now)) return;
  const passed = before && solved ? before.passed + 1 : 0;
  const days = before || !solved ? REPEAT_DAYS[passed] : undefined;
  all[id] = {
    solved: before?.solved ?? solved,
    at: before?.at ?? now,
    passed,
    due: days === undefined ? null : now + days * DAY_MS,
  };
  try {
    localStorage.setItem(name, JSON.stringify(all));
  } catch {
    // Storage is disabled: nothing comes again.
  }
}

export function words(attempt, now = Date.now()) {
  if (!attempt) return "";
  const days = Math.floor((now - attempt.at) / DAY_MS);
  const result = attempt.solved ? "solved" : "missed";
  const ago = days ? `${days} day${days === 1 ? "" : "s"} ago` : "today";
  if (isDue(attempt, now)) return `Again: ${result} ${ago}.`;
  return `${result[0].toUpperCase()}${result.slice(1)} ${ago}.`;
}

// Moves the attempts of this browser to the account of the person, where they are history.
export async function takeOver(api, name) {
  const all = Object.entries(attempts(name));
  if (!all.length) return;
  const sent = all.map(([puzzle, {solved, at}]) => ({puzzle, solved, at: new Date(at).toISOString()}));
  for (let first = 0; first < sent.length; first += MAX_TAKEN_OVER)
    await call("POST", `${api}/attempts`, {attempts: sent.slice(first, first + MAX_TAKEN_OVER)});
  localStorage.removeItem(name);
}
