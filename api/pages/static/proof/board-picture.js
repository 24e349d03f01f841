// Draws positions on the empty boards that the page contains, with the drawings of pieces that it contains.

import {readPosition} from "./boards.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 0.1; // squares between two pieces of a column
const FOOT = 0.05; // squares by which a column stands below the middle of its square
const MAX_COLUMN_HEIGHT = 1.15; // squares; a taller column is compressed

// Returns {svg, words, squares} of a position: the picture, who is to move, and the contents of the squares in words.
// Throws an Error when the position cannot be read or has a piece or square that the board does not have.
export function drawPosition(game, tables, text, label) {
  const table = Object.hasOwn(tables, game) ? tables[game] : null;
  if (!table) throw new Error("this page has no board for the game");
  const position = readPosition(table, text);
  const svg = document.getElementById(`board-${game}`).content.querySelector("svg").cloneNode(true);
  svg.setAttribute("aria-label", label);
  const squares = [];
  const put = ([, , part], drawn) => svg.querySelector(`.part-${part}`).append(...drawn);
  const corner = (square) => {
    if (!Object.hasOwn(table.squares, square)) throw new Error(`the board has no square ${square}`);
    return table.squares[square];
  };
  for (const [one, other] of position.links) put(corner(one), [linkBetween(corner(one), corner(other))]);
  const columns = Object.entries(position.columns).map(([square, pieces]) => ({square, pieces, at: corner(square)}));
  columns.sort((one, other) => one.at[1] - other.at[1]); // the far ones first: near columns overlap them
  for (const {square, pieces, at} of columns) {
    const titles = pieces.map((piece) => {
      if (!Object.hasOwn(table.pieces, piece)) throw new Error(`this game has no piece ${piece}`);
      return table.pieces[piece][1];
    });
    put(
      at,
      drawColumn(
        pieces.map((piece) => table.pieces[piece][0]),
        at,
      ),
    );
    squares.push(`${square}: ${titles.reverse().join(" over ")}`);
  }
  squares.sort();
  return {svg, words: position.words, squares};
}

function drawColumn(faces, [left, top]) {
  const step = Math.min(STEP, MAX_COLUMN_HEIGHT / faces.length);
  const drawn = faces.map((face, level) =>
    element("use", {href: `#${face}`, x: left + 0.5, y: top + 0.5 + FOOT - step * level}),
  );
  if (faces.length > 1) {
    const height = element("text", {class: "height", x: left + 0.96, y: top + 0.95});
    height.textContent = faces.length;
    drawn.push(height);
  }
  return drawn;
}

function linkBetween([x1, y1], [x2, y2]) {
  return element("path", {class: "link", d: `M${x1 + 0.5} ${y1 + 0.5}L${x2 + 0.5} ${y2 + 0.5}`});
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
