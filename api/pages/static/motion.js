// Movement of pieces between two pictures of a board, as they differ: pieces that arrive come from the squares that others
// have left, captured ones that join a column go under it, and others that are captured fade. It knows no game.

import {place} from "./square-geometry.js";

const MOVING_MS = 180;
const MAX_SQUARES = 24; // more differ between positions that do not follow each other

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

// Returns the state of the board that move() needs before its picture changes, null if nothing is to move.
export function present(board) {
  if (STILL.matches) return null;
  return {columns: columnsOf(board), corner: corner(board)};
}

// Moves the pieces of a board from where they stood `before`.
export function move(board, before) {
  if (!before || corner(board) !== before.corner) return; // the board was turned
  const columns = columnsOf(board);
  const changes = [...board.squares.keys()]
    .map((square) => change(square, before.columns.get(square), columns.get(square)))
    .filter(Boolean);
  if (!changes.length || changes.length > MAX_SQUARES) return;
  const entered = changes.filter(({arriving}) => arriving.length);
  const left = changes.filter(({leaving}) => leaving.length);
  for (const {square, arriving, old, column} of entered) {
    const others = left.filter((other) => other.square !== square && !other.taken);
    const origin = originOf(arriving, others);
    const captured = others.filter((other) => other !== origin && joins(other, arriving));
    const joining = arriving.slice(0, origin ? -origin.leaving.length : undefined);
    if (origin) for (const use of arriving.slice(-origin.leaving.length)) slide(board, use, origin.square);
    for (const [number, use] of joining.entries()) if (captured[number]) slide(board, use, captured[number].square);
    for (const other of [origin, ...captured]) if (other?.leaving.length <= arriving.length) other.taken = true;
    if (old && arriving.length === column.querySelectorAll("use").length) fade(old, column);
  }
  for (const {square, old, leaving, taken, arriving} of left)
    if (!taken && !arriving.length && leaving.length === 1 && entered.length) fade(old, part(board, square));
}

const hrefs = (uses) => uses.map((use) => use.getAttribute("href"));
const columnsOf = ({frame}) =>
  new Map(
    [...frame.querySelectorAll(".column:not(.drafted)")].map((column) => [
      column.dataset.square,
      {column, uses: [...column.querySelectorAll("use")]},
    ]),
  );
const corner = (board) => JSON.stringify(board.squares.values().next().value?.dataset ?? {});
const part = (board, square) => board.squares.get(square).closest(".part").querySelector(".columns").firstElementChild;

// How a square differs: the pieces that arrive on it and those that leave it; undefined if it does not.
function change(square, before, after) {
  const old = hrefs(before?.uses ?? []);
  const now = hrefs(after?.uses ?? []);
  if (old.join() === now.join()) return undefined;
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same += 1;
  const kept = same === old.length || same === now.length ? same : 0;
  return {
    square,
    old: before?.column,
    column: after?.column,
    leaving: old.slice(kept),
    arriving: (after?.uses ?? []).slice(kept),
  };
}

// The square from which pieces come: the same ones have left it; else, of a single other square, that one.
function originOf(arriving, others) {
  const faces = hrefs(arriving);
  const fitting = others.filter(({leaving}) => leaving.join() === faces.slice(-leaving.length).join());
  return (
    fitting.sort((one, other) => other.leaving.length - one.leaving.length)[0] ??
    (others.length === 1 ? others[0] : null)
  );
}

// Whether the piece that has left a square lies in a column now.
const joins = ({leaving}, arriving) => leaving.length === 1 && hrefs(arriving).includes(leaving[0]);

function slide(board, use, from) {
  const square = board.squares.get(from);
  const target = board.squares.get(use.parentNode.dataset.square);
  const own = use.getScreenCTM().inverse().multiply(use.closest(".parts").getScreenCTM());
  const [begin, end] = [place(square), place(target)].map((point) => point.matrixTransform(own));
  const [x, y] = [begin.x - end.x, begin.y - end.y].map((distance) => Number(distance.toFixed(3)));
  use.animate([{transform: `translate(${x}px, ${y}px)`}, {transform: "none"}], {
    duration: MOVING_MS,
    easing: "ease-in-out",
  });
}

// Shows captured pieces for a last moment, below `next`.
function fade(old, next) {
  const ghost = old.cloneNode(true);
  ghost.setAttribute("class", "ghost"); // no longer part of the position
  next?.before(ghost);
  ghost.animate([{opacity: 1}, {opacity: 0}], MOVING_MS).finished.then(
    () => ghost.remove(),
    () => ghost.remove(),
  );
}
