// Arrows and circles that a viewer draws on a board: with the right mouse button, with a long press, or with the key M at
// both ends. They are sent nowhere, and go when a square is pressed, with Escape, and when the pieces change.

import {place} from "./square-geometry.js";

const SVG = "http://www.w3.org/2000/svg";
const LONG_PRESS_MS = 500;
const MAX_TREMBLE_PX = 10; // of a finger that rests
const HEAD = 0.28; // of an arrow, in squares
const HEAD_TURN = 2.6; // of its sides against the shaft, in radians

export function enableArrows(board) {
  const {frame} = board;
  let arrows = []; // {from, to}, the same square twice for a circle
  let pending = null; // the one that is being drawn with a pointer
  let marked = null; // the square where one has begun by key
  let pieces = ""; // the pieces for which they were drawn
  let press = null; // {x, y, timer}: a finger that rests, perhaps
  let swallows = false; // whether the click at the end of a long press is none

  const squareAt = ({clientX, clientY}) => {
    const square = document.elementFromPoint(clientX, clientY)?.closest(".square");
    return square && frame.contains(square) ? square.dataset.square : null;
  };
  const drawn = () => [...frame.querySelectorAll(".columns")].map((columns) => columns.innerHTML).join();

  function toggle({from, to}) {
    const others = arrows.filter((arrow) => arrow.from !== from || arrow.to !== to);
    const removed = others.length < arrows.length;
    arrows = removed ? others : [...arrows, {from, to}];
    pieces = drawn();
    draw();
    board.on.say(`${from === to ? `Circle on ${from}` : `Arrow from ${from} to ${to}`}${removed ? " removed" : ""}.`);
  }

  function clear() {
    const some = arrows.length > 0;
    arrows = [];
    marked = null;
    draw();
    return some;
  }

  function draw() {
    frame.querySelector(".arrows")?.remove();
    const shown = [...arrows, pending].filter((arrow) => arrow && board.squares.has(arrow.to));
    if (!shown.length) return;
    const layer = document.createElementNS(SVG, "path");
    layer.setAttribute("class", "arrows");
    layer.setAttribute("d", shown.map(outline).join(""));
    frame.querySelector(".parts").append(layer);
  }

  function outline({from, to}) {
    const [start, end] = [from, to].map((name) => place(board.squares.get(name)));
    if (from === to) return `M${end.x - 0.43} ${end.y}a.43 .43 0 1 0 .86 0a.43 .43 0 1 0 -.86 0`;
    const angle = Math.atan2(end.y - start.y, end.x - start.x);
    const side = (turn) => `${end.x + HEAD * Math.cos(angle + turn)} ${end.y + HEAD * Math.sin(angle + turn)}`;
    return `M${start.x} ${start.y}L${end.x} ${end.y}M${side(HEAD_TURN)}L${end.x} ${end.y}L${side(-HEAD_TURN)}`;
  }

  function begin(event) {
    const from = squareAt(event);
    pending = from && {from, to: from};
    draw();
  }

  function rest() {
    clearTimeout(press?.timer);
    press = null;
  }

  frame.addEventListener("pointerdown", (event) => {
    swallows = false;
    if (event.pointerType !== "touch") return event.button === 2 && begin(event);
    rest();
    const {clientX: x, clientY: y} = event;
    const timer = setTimeout(() => {
      swallows = true;
      begin({clientX: x, clientY: y});
    }, LONG_PRESS_MS);
    press = {x, y, timer};
  });
  addEventListener("pointermove", (event) => {
    if (press && Math.hypot(event.clientX - press.x, event.clientY - press.y) > MAX_TREMBLE_PX) rest();
    if (!pending) return;
    pending.to = squareAt(event) ?? pending.from;
    draw();
  });
  addEventListener("pointerup", (event) => {
    rest();
    const arrow = pending;
    pending = null;
    if (arrow && squareAt(event)) toggle(arrow);
    else if (arrow) draw();
  });
  addEventListener("pointercancel", () => {
    rest();
    pending = null;
    draw();
  });
  // A finger that draws does not scroll.
  frame.addEventListener("touchmove", (event) => pending && event.preventDefault(), {passive: false});
  frame.addEventListener("contextmenu", (event) => event.target.closest(".square") && event.preventDefault());
  frame.addEventListener(
    "click",
    (event) => {
      if (swallows) event.stopPropagation();
      else clear();
    },
    true,
  );
  frame.addEventListener(
    "keydown",
    (event) => {
      const square = event.target.closest(".square")?.dataset.square;
      if (!square || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === " ") clear();
      if (event.key !== "m") return;
      if (marked) toggle({from: marked, to: square});
      else board.on.say(`An arrow begins at ${square}: press M where it ends, or here for a circle.`);
      marked = marked ? null : square;
    },
    true,
  );
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && clear()) board.on.say("Arrows and circles are removed.");
  });

  // Called when the picture has been replaced, perhaps by the same one.
  board.arrows = {
    settle() {
      if (pieces === drawn()) draw();
      else clear();
    },
  };
}
