// The boards of a match as steps from ply to ply: which steps are known, and how to apply one to a drawn board. All
// drawings come from the server.

const SVG = "http://www.w3.org/2000/svg";

export class BoardSteps {
  constructor() {
    this.forget(0);
    this.faces = {};
  }

  // Stores {faces, steps} as sent by the server.
  keep({faces, steps}) {
    Object.assign(this.faces, faces);
    for (const step of steps) this.steps.set(step.ply, step);
  }

  // Forgets the steps beyond `ply` plies.
  forget(ply) {
    this.steps = new Map([...(this.steps || [])].filter(([stepPly]) => stepPly <= ply));
  }

  // Returns how far the known steps lead without a gap from one ply towards another.
  reach(from, to) {
    let ply = from;
    if (to < from) while (ply > to && this.steps.has(ply)) ply -= 1;
    else while (ply < to && this.steps.has(ply + 1)) ply += 1;
    return ply;
  }

  // Applies the steps between two plies, all of them known, to the SVG element of a board that shows the first.
  take(svg, from, to) {
    const board = new DrawnBoard(svg, this.faces);
    if (to < from) for (let ply = from; ply > to; ply -= 1) board.take(this.steps.get(ply), 0);
    else for (let ply = from + 1; ply <= to; ply += 1) board.take(this.steps.get(ply), 1);
  }
}

class DrawnBoard {
  constructor(svg, faces) {
    this.faces = faces;
    this.defs = svg.querySelector("defs");
    this.layers = {marks: svg.querySelectorAll(".marks"), links: svg.querySelectorAll(".links")};
    this.squares = new Map([...svg.querySelectorAll(".square")].map((square) => [square.dataset.square, square]));
    this.columns = new Map([...svg.querySelectorAll(".column")].map((column) => [column.dataset.square, column]));
  }

  // `side` is 0 for the state before the ply and 1 for the state after it.
  take({columns, squares, marks, links}, side) {
    for (const [square, sides] of Object.entries(columns)) this.putColumn(square, sides[side]);
    for (const [square, sides] of Object.entries(squares)) this.putWords(square, ...sides[side]);
    for (const [layer, sides] of Object.entries({marks, links})) if (sides) this.putLayer(layer, sides[side]);
  }

  putColumn(square, markup) {
    this.columns.get(square)?.remove();
    this.columns.delete(square);
    if (!markup) return;
    const column = parseDrawing(markup);
    for (const use of column.querySelectorAll("use")) this.needFace(use.getAttribute("href").slice(1));
    // Near columns overlap far ones, so columns are kept in the order of their squares.
    let next = this.squares.get(square).nextElementSibling;
    while (next && !this.columns.has(next.dataset.square)) next = next.nextElementSibling;
    if (next) this.columns.get(next.dataset.square).before(column);
    else this.part(square, "columns").append(column);
    this.columns.set(square, column);
  }

  putWords(square, words, notes) {
    const element = this.squares.get(square);
    element.setAttribute("aria-label", words);
    for (const note of element.querySelectorAll("desc")) note.remove();
    element.prepend(...parseDrawings(notes));
  }

  putLayer(layer, overlay) {
    for (const part of this.layers[layer]) part.replaceChildren();
    for (const [square, markup] of overlay) this.part(square, layer).append(parseDrawing(markup));
  }

  part(square, layer) {
    return this.squares.get(square).closest(".part").querySelector(`.${layer}`);
  }

  needFace(id) {
    if (!this.defs.querySelector(`#${CSS.escape(id)}`)) this.defs.append(parseDrawing(this.faces[id]));
  }
}

function parseDrawings(markup) {
  const holder = document.createElementNS(SVG, "g");
  holder.innerHTML = markup;
  return [...holder.children];
}

const parseDrawing = (markup) => parseDrawings(markup)[0];
