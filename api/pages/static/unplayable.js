// Explains why no move begins on a square that the player to move has pressed.

import {call} from "./api.js";

// Returns explain(square). `applies()` tells whether the board shows the position of `version()` to one of its players.
export function explainer({api, version, applies, say}) {
  let asked = 0; // numbers the requests, so that late answers are dropped

  return async function whyNot(square) {
    if (!applies()) return;
    const number = ++asked;
    try {
      const answer = await call("GET", `${api}/squares/${encodeURIComponent(square)}`);
      if (number === asked && applies() && answer.version_tag === version() && answer.reason)
        say(sentence(answer.reason));
    } catch (problem) {
      say(problem.message, true);
    }
  };
}

// Names of squares stay in lower case.
const sentence = (clause) => `${/^[a-z]{1,2}\d/.test(clause) ? clause : clause[0].toUpperCase() + clause.slice(1)}.`;
