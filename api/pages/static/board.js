// The board: pointing, selecting and stepping along a path. It knows squares and hints, but no game.
//
// Hints come from the server: {square: [{move, path, label}]}. After a square has been selected, the squares that
// follow in the paths of its moves light up one after the other, until a single move is left. Moves that cannot be
// told apart by squares are offered as options (buttons).

import {place} from "./square-geometry.js";

const SVG = "http://www.w3.org/2000/svg";
const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const LEVELS = {PageUp: 1, PageDown: -1};

// Returns the square a number of levels above another one in a game with levels: two letters name the place on a level,
// the number names the level.
function above(square, levels) {
  const [, letters, number] = square.match(/^([a-z]{2})(\d+)$/) || [];
  return letters && `${letters}${Number(number) + levels}`;
}

// Adds its centre and the mark of a target to a square.
function prepare(square) {
  if ("x" in square.dataset) return square;
  const [x, y] = ["x", "y"].map((name) => Number(square.querySelector("rect").getAttribute(name)) + 0.5);
  Object.assign(square.dataset, {x, y});
  const sign = document.createElementNS(SVG, "circle");
  for (const [name, value] of Object.entries({class: "target", cx: x, cy: y, r: 0.15})) sign.setAttribute(name, value);
  square.append(sign);
  return square;
}

export class Board {
  // `on` has choose(move, squares), options(list of {text, take}), inspect(square element or null) and say(text), and
  // optionally idle(square), called for a piece with which no move begins, and missed(from, to), for a square to which
  // the selected piece does not go.
  constructor(frame, on) {
    this.frame = frame;
    this.on = on;
    this.hints = {};
    this.current = null;
    this.motion = null; // motion.js, where pictures are not exchanged at once
    this.dropped = false; // whether a piece was put down where the next picture shows it
    this.arrows = null; // arrows.js, once loaded
    this.overlay = null; // draws on the board and may take presses: draw(), press(square), begins()
    this.clearSteps();
    frame.addEventListener("click", (event) => this.press(event.target.closest(".square")));
    frame.addEventListener("keydown", (event) => this.key(event));
    frame.addEventListener("focusin", (event) => this.arrive(event.target.closest(".square")));
    frame.addEventListener("pointerover", (event) => this.on.inspect(event.target.closest(".square")));
    frame.addEventListener("pointerleave", () => this.on.inspect(this.focused()));
    this.redraw();
  }

  // Must be called whenever the picture in the frame is replaced.
  redraw() {
    this.squares = new Map();
    for (const element of this.frame.querySelectorAll(".square"))
      this.squares.set(element.dataset.square, prepare(element));
    for (const column of this.frame.querySelectorAll(".column"))
      this.squares.get(column.dataset.square)?.classList.add("is-held");
    this.light();
    this.rove();
    this.arrows?.settle();
  }

  // The state of the present picture that show() needs before it is changed, so that pieces move.
  present() {
    const dropped = this.dropped;
    this.dropped = false;
    return dropped ? null : this.motion?.present(this);
  }

  // Shows another picture, as markup or as an element, and keeps the focus where it was.
  show(picture, before = this.present()) {
    const focused = this.focused()?.dataset.square;
    if (typeof picture === "string") this.frame.innerHTML = picture;
    else if (this.frame.firstElementChild !== picture) this.frame.replaceChildren(picture);
    this.redraw();
    if (focused) this.squares.get(focused)?.focus({preventScroll: true});
    if (before) this.motion.move(this, before);
  }

  // Offers the moves of `hints`; an empty object offers none. A selection survives if the same hints are offered again.
  offer(hints) {
    const same = JSON.stringify(hints) === JSON.stringify(this.hints);
    this.hints = hints;
    if (same) return this.light();
    this.clear();
    this.rove();
    this.on.inspect(this.focused());
  }

  clear() {
    this.clearSteps();
    this.light();
    this.offerOptions();
  }

  clearSteps() {
    this.start = null;
    this.path = [];
  }

  // The squares where a move can begin, in the order of the board.
  movable() {
    const begins = this.overlay?.begins() ?? new Set(Object.keys(this.hints));
    return [...this.squares.keys()].filter((square) => begins.has(square));
  }

  // Returns how many pieces can move as a sentence, empty if none can.
  count() {
    const squares = this.movable();
    const pieces = squares.filter((square) => this.squares.get(square).classList.contains("is-held"));
    if (pieces.length) return `${pieces.length} ${pieces.length === 1 ? "piece" : "pieces"} can move.`;
    return squares.length ? `${squares.length} ${squares.length === 1 ? "square" : "squares"} can be chosen.` : "";
  }

  // Makes one square the tab stop: the focused one, else one where a move can begin, else the last one.
  rove() {
    const movable = this.movable();
    const begin = movable.includes(this.current) ? this.current : movable[0];
    const home =
      this.focused() || this.squares.get(begin) || this.squares.get(this.current) || this.squares.values().next().value;
    for (const element of this.squares.values()) element.setAttribute("tabindex", element === home ? "0" : "-1");
  }

  // Focuses the next (`step` 1) or previous (-1) square where a move can begin or continue; returns why there is none.
  goOn(step) {
    const targets = this.targets();
    const squares = targets.size ? [...this.squares.keys()].filter((square) => targets.has(square)) : this.movable();
    if (!squares.length) return "No piece can move now.";
    const order = [...this.squares.keys()];
    const here = order.indexOf(this.focused()?.dataset.square);
    const ahead = squares.filter((square) => (order.indexOf(square) - here) * step > 0);
    this.focusOn(
      here < 0 ? squares.at(step > 0 ? 0 : -1) : step > 0 ? (ahead[0] ?? squares[0]) : (ahead.at(-1) ?? squares.at(-1)),
    );
    return "";
  }

  focused() {
    return this.frame.contains(document.activeElement) ? document.activeElement.closest(".square") : null;
  }

  // Focuses the tab stop.
  home() {
    this.frame.querySelector('.square[tabindex="0"]')?.focus({preventScroll: true});
  }

  // Focuses a square, or the tab stop if there is no such square.
  focusOn(square) {
    const element = this.squares.get(square);
    if (element) element.focus({preventScroll: true});
    else this.home();
  }

  // The moves that begin with the steps made so far.
  candidates() {
    const moves = this.start === null ? [] : this.hints[this.start];
    return moves.filter((hint) => this.path.every((square, step) => hint.path[step] === square));
  }

  press(element) {
    if (!element) return;
    const square = element.dataset.square;
    this.on.inspect(element);
    if (this.overlay?.press(square)) return;
    if (this.start !== null && this.targets().has(square)) return this.step(square);
    const again = square === this.start && this.path.length === 0;
    const here = this.candidates().filter((hint) => hint.path.length === 0);
    if (again && here.length === 1) return this.choose(here[0]);
    if (!again && Object.hasOwn(this.hints, square)) return this.begin(square);
    const from = this.start;
    if (from !== null) this.clear();
    if (from !== null && !again && this.on.missed?.(from, square)) return;
    if (!again && element.classList.contains("is-held")) this.on.idle?.(square);
  }

  begin(square) {
    this.start = square;
    this.path = [];
    this.light();
    const targets = [...this.targets()].sort((one, other) => one.localeCompare(other, "en", {numeric: true}));
    const options = this.offerOptions();
    const goes = targets.length ? ` It can go to ${targets.join(", ")}.` : "";
    this.on.say(`${square} selected.${goes}${options.length ? ` Or: ${options.join(", ")}.` : ""}`);
  }

  step(square) {
    this.path.push(square);
    const left = this.candidates();
    if (left.length === 1) return this.choose(left[0]);
    this.light();
    this.offerOptions();
    const targets = [...this.targets()];
    if (targets.length) this.on.say(`${square}, and on to ${targets.join(" or ")}.`);
  }

  choose(hint) {
    const squares = this.start === null ? [] : [this.start, ...hint.path];
    this.clear();
    this.on.choose(hint.move, squares);
  }

  targets() {
    return new Set(
      this.candidates()
        .filter((hint) => hint.path.length > this.path.length)
        .map((hint) => hint.path[this.path.length]),
    );
  }

  // Offers moves that squares cannot tell apart as buttons; returns their texts.
  offerOptions() {
    const complete =
      this.start === null
        ? this.hints[""] || []
        : this.candidates().filter((hint) => hint.path.length === this.path.length);
    const labels = complete.map(({label}) => label);
    const alone = new Set(labels).size === labels.length && !labels.includes("");
    const options = complete.map((hint) => ({
      text: alone ? hint.label : hint.label && hint.label !== hint.move ? `${hint.label} (${hint.move})` : hint.move,
      take: () => this.choose(hint),
    }));
    this.on.options(options);
    return options.map((option) => option.text);
  }

  light() {
    const targets = this.targets();
    for (const [square, element] of this.squares) {
      element.classList.toggle("can-begin", this.start === null && Object.hasOwn(this.hints, square));
      element.classList.toggle("is-selected", square === this.start);
      element.classList.toggle("is-step", this.path.includes(square));
      element.classList.toggle("is-target", targets.has(square));
      element.toggleAttribute("aria-pressed", false);
      if (square === this.start) element.setAttribute("aria-pressed", "true");
      if (targets.has(square)) element.setAttribute("aria-description", "can be reached");
      else if (Object.hasOwn(this.hints, square)) element.setAttribute("aria-description", "can move");
      else element.removeAttribute("aria-description");
    }
    this.trail(this.start === null ? [] : [this.start, ...this.path]);
    this.overlay?.draw();
  }

  // Draws a line through the squares of the path.
  trail(squares) {
    this.frame.querySelector(".trail")?.remove();
    const points = squares.map((square) => this.squares.get(square)).filter(Boolean);
    if (points.length < 2) return;
    const line = document.createElementNS(SVG, "polyline");
    line.setAttribute("class", "trail");
    line.setAttribute(
      "points",
      points
        .map(place)
        .map(({x, y}) => `${x},${y}`)
        .join(" "),
    );
    this.frame.querySelector(".parts").append(line);
  }

  arrive(element) {
    if (!element) return;
    for (const other of this.squares.values()) other.setAttribute("tabindex", other === element ? "0" : "-1");
    this.current = element.dataset.square;
    this.on.inspect(element);
  }

  key(event) {
    const element = event.target.closest(".square");
    if (!element || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.press(element);
    } else if (event.key === "Escape" && this.start !== null) {
      event.stopPropagation();
      this.clear();
    } else if (ARROWS[event.key]) {
      event.preventDefault();
      this.neighbour(element, ARROWS[event.key])?.focus();
    } else if (LEVELS[event.key] && above(element.dataset.square, 0)) {
      event.preventDefault();
      this.squares.get(above(element.dataset.square, LEVELS[event.key]))?.focus();
    }
  }

  // Returns the nearest square in a direction; sideways distance weighs more.
  neighbour(element, [dx, dy]) {
    let best = null;
    let least = Infinity;
    const from = place(element);
    for (const other of this.squares.values()) {
      const to = place(other);
      const [x, y] = [to.x - from.x, to.y - from.y];
      const ahead = x * dx + y * dy;
      const distance = ahead + 4 * Math.abs(x * dy + y * dx);
      if (ahead > 0.1 && distance < least) [best, least] = [other, distance];
    }
    return best;
  }
}
