// Shows the current square: a small picture, its contents in words, a column piece by piece from top to bottom, and notes.
//
// The current square is the one last pointed at, focused or selected; before that the target of the last move, or the
// first square where a move can begin. It is updated whenever the picture in the frame changes.
//
// Pressed, a square where no move begins says why.

import {call} from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

export function inspector(section, frame) {
  const [title, words, list, notes, picture] = ["h2", "p", "ol", "dl", "svg"].map((name) =>
    section.querySelector(name),
  );
  let current = [...frame.querySelectorAll(".mark-to")].at(-1)?.dataset.square;

  // Shows a square, by default the current one.
  function inspect(square) {
    if (square) current = square.dataset.square;
    const target =
      (current && frame.querySelector(`.square[data-square="${CSS.escape(current)}"]`)) ||
      frame.querySelector(".square.can-begin");
    if (target) show(target);
  }

  function show(square) {
    const name = square.dataset.square;
    const column = frame.querySelector(`.column[data-square="${CSS.escape(name)}"]`);
    const pieces = column ? [...column.querySelectorAll("use")] : [];
    title.textContent = `Square ${name}`;
    words.textContent = square.getAttribute("aria-label");
    list.replaceChildren(
      ...(pieces.length > 1 ? [...pieces].reverse().map((piece) => element("li", piece.dataset.title)) : []),
    );
    notes.replaceChildren(
      ...[...square.querySelectorAll("desc")].flatMap((note) => [
        element("dt", note.dataset.title),
        element("dd", note.textContent),
      ]),
    );
    draw(square.querySelector("rect"), pieces);
  }

  // Draws the column as it stands on the board.
  function draw(place, pieces) {
    const [x, y] = ["x", "y"].map((name) => Number(place.getAttribute(name)));
    const top = Math.min(y, ...pieces.map((piece) => Number(piece.getAttribute("y")) - 0.4));
    picture.setAttribute("viewBox", `${x} ${top} 1 ${y + 1 - top}`);
    const ground = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({
      class: "cell",
      x: x + 0.02,
      y: y + 0.02,
      width: 0.96,
      height: 0.96,
      rx: 0.06,
    }))
      ground.setAttribute(name, value);
    picture.replaceChildren(ground, ...pieces.map((piece) => piece.cloneNode()));
  }

  new MutationObserver(() => inspect()).observe(frame, {childList: true, subtree: true});
  inspect();
  return inspect;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

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
