// Says why the player to move can begin nothing on a square, when somebody chooses it all the same.

import {call} from "./api.js";

// `applies()` tells whether the board shows the position of `version()`, in which the viewer plays.
export function sayWhyNot({api, version, applies, say}) {
  let asked = 0; // numbers the questions, so that a late answer is not said

  return async function whyNot(square) {
    if (!applies()) return;
    const number = ++asked;
    try {
      const told = await call("GET", `${api}/squares/${encodeURIComponent(square)}`);
      if (number === asked && applies() && told.version_tag === version() && told.reason) say(sentence(told.reason));
    } catch (problem) {
      say(problem.message, true);
    }
  };
}

// Names of squares stay in small letters.
const sentence = (clause) => `${/^[a-z]{1,2}\d/.test(clause) ? clause : clause[0].toUpperCase() + clause.slice(1)}.`;
