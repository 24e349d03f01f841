// Sets up an army: pieces are chosen in a panel, placed, moved and removed on the board, and submitted all at once.
// Until then the choice is kept in the tab.

import {confirmAct} from "./actions.js";
import {newKey} from "./api.js";
import {Army} from "./army.js";
import {MIN_DRAG_PX} from "./drag.js";

const SVG = "http://www.w3.org/2000/svg";

export class DraftPanel {
  // `match` as for MoveEntry; `analysis` is active while moves are explored.
  constructor({panel, board, match, analysis, moveEntry}) {
    Object.assign(this, {panel, board, match, analysis, moveEntry});
    this.army = null;
    this.hand = null; // {code} of a piece of the panel, or {code, from} of one on the board, that the next square is for
    this.refusal = ""; // why the last request was refused
    this.key = newKey(); // idempotency key of the submission of this army
    this.facts = "";
    this.storage = `draft:${match.api}`;
    board.overlay = this;
    panel.addEventListener("click", (event) => this.click(event.target.closest("button")));
    for (const part of [panel, board.frame]) part.addEventListener("keydown", (event) => this.type(event));
    this.drag();
    this.settle();
  }

  // Whether the board shows the army being set up.
  get active() {
    return this.army !== null && this.match.shown() === this.match.plies() && !this.analysis.active;
  }

  // Must be called whenever the panel may have been replaced.
  settle() {
    const facts = this.panel.querySelector("[data-facts]")?.dataset.facts ?? "";
    if (facts !== this.facts) {
      this.facts = facts;
      this.hand = null;
      this.army = facts ? new Army(JSON.parse(facts), this.stored()) : null;
      if (this.army?.affords(this.army.facts.first)) this.hand = {code: this.army.facts.first};
    }
    this.relight();
  }

  relight() {
    this.refusal = "";
    this.board.light();
    this.board.rove();
  }

  // The squares that can be pressed now, null while the board does not show the army.
  begins() {
    if (!this.active) return null;
    const {army, hand} = this;
    return hand
      ? new Set([...army.kinds.get(hand.code).squares].filter((square) => army.fits(hand.code, square)))
      : new Set(army.chosen.keys());
  }

  stored() {
    try {
      return JSON.parse(sessionStorage.getItem(this.storage) ?? "[]");
    } catch {
      return [];
    }
  }

  // Called after every change of the army.
  changed(words) {
    this.key = newKey();
    sessionStorage.setItem(this.storage, JSON.stringify([...this.army.chosen]));
    if (this.hand && !this.hand.from && !this.army.affords(this.hand.code)) this.hand = null;
    this.relight();
    this.say(
      `${words} ${this.army.spent()} of ${this.army.facts.budget} spent. ${this.army.problem() || "The army can be submitted."}`,
    );
  }

  // Announces a text to screen readers.
  say(words) {
    this.match.say(words, false, true);
  }

  refuse(words) {
    this.refusal = words;
    this.show();
    this.say(words);
  }

  title(code) {
    return this.army.kinds.get(code).title;
  }

  // Handles a press on the board; returns whether it was handled.
  press(square) {
    if (!this.active) return false;
    const {army, hand} = this;
    const here = army.chosen.get(square);
    if (hand?.from === square) this.hold(null, `${this.title(here)} stays on ${square}.`);
    else if (here)
      this.hold(
        {code: here, from: square},
        `${this.title(here)} on ${square}: choose another square for it, or take it back.`,
      );
    else if (army.at(square))
      this.refuse(`The ${this.title(army.at(square))} on ${square} has been played and stays there.`);
    else if (!hand) this.refuse("Choose a piece first.");
    else this.put(hand, square);
    return true;
  }

  put({code, from}, square) {
    const done = from ? this.army.move(from, square) : this.army.place(code, square);
    if (!done) return this.refuse(`The ${this.title(code)} cannot be set up on ${square}.`);
    if (from) this.hand = null;
    this.changed(from ? `${this.title(code)} from ${from} to ${square}.` : `${this.title(code)} on ${square}.`);
  }

  takeBack(square) {
    const code = this.army.chosen.get(square);
    this.army.take(square);
    this.hand = null;
    this.changed(`${this.title(code)} on ${square} taken back.`);
  }

  hold(hand, words) {
    this.hand = hand;
    this.relight();
    this.say(words);
  }

  click(button) {
    if (!button || !this.army) return;
    const {code, draftAct} = button.dataset;
    if (draftAct === "submit") this.submit();
    else if (draftAct === "clear") this.replace([], "The board is cleared.");
    else if (draftAct === "ready")
      this.replace(
        this.army.facts.ready.map((move) => move.split("@").reverse()),
        "The ready-made army is set up.",
      );
    else if (draftAct === "take") this.takeBack(this.hand.from);
    else if (code === this.hand?.code && !this.hand.from)
      this.say(`${this.title(code)} is chosen. Choose squares of your quadrant for it.`);
    else if (code && !this.army.affords(code))
      this.refuse(
        this.army.left(code) > 0
          ? `Too expensive: only ${this.army.rest()} left.`
          : `None of this kind is left: ${this.title(code)}.`,
      );
    else if (code) this.hold({code}, `${this.title(code)} chosen. Choose squares of your quadrant for it.`);
  }

  // Replaces the chosen army.
  async replace(placed, words) {
    const question = {
      ask: "Discard the army on the board?",
      consequence: "The pieces you have placed are removed.",
      yes: "Discard",
    };
    if (this.army.chosen.size > 1 && !(await confirmAct(question))) return;
    this.army = new Army(this.army.facts, placed);
    this.hand = null;
    this.changed(words);
  }

  type(event) {
    if (!this.active || event.ctrlKey || event.altKey || event.metaKey) return;
    const square = event.target.closest(".square")?.dataset.square;
    if (event.key === "Escape" && this.hand) this.hold(null, "No piece is chosen.");
    else if (["Delete", "Backspace"].includes(event.key) && this.army.chosen.has(square)) this.takeBack(square);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async submit() {
    const {army, match, moveEntry} = this;
    if (!army || army.problem()) return;
    const button = this.panel.querySelector("[data-draft-act=submit]");
    const moves = army.moves();
    button.disabled = true;
    match.say("Submitting …");
    try {
      await match.submit({moves}, this.key);
      sessionStorage.removeItem(this.storage);
      await match.refresh({ply: null});
    } catch (problem) {
      button.disabled = false;
      await moveEntry.recover(problem, "Your army was not set up.");
    }
  }

  // Draws the army on the board after it was highlighted, and updates the panel.
  draw() {
    const {frame, squares} = this.board;
    for (const group of frame.querySelectorAll(".drafted")) group.remove();
    for (const square of frame.querySelectorAll("[data-bare]")) {
      square.setAttribute("aria-label", square.dataset.bare);
      square.classList.remove("is-held");
      delete square.dataset.bare;
    }
    this.panel.hidden = !this.active;
    if (this.army) this.show();
    if (!this.active) return;
    const {army, hand} = this;
    for (const [square, code] of [...army.chosen].sort(
      ([one], [other]) => squares.get(one).dataset.y - squares.get(other).dataset.y,
    ))
      this.stand(squares.get(square), code);
    for (const [square, element] of squares) {
      const target = Boolean(hand) && army.fits(hand.code, square);
      element.classList.toggle("is-target", target);
      element.classList.toggle("is-selected", Boolean(hand?.from) && square === hand.from);
      if (hand?.from && square === hand.from) element.setAttribute("aria-pressed", "true");
      if (target) element.setAttribute("aria-description", `${this.title(hand.code)} can be set up here`);
      else if (army.chosen.has(square)) element.setAttribute("aria-description", "can be moved or taken back");
    }
  }

  stand(element, code) {
    const {square, x, y} = element.dataset;
    const piece = document.createElementNS(SVG, "use");
    piece.setAttribute("href", `#${this.button(code).dataset.face}`);
    piece.setAttribute("x", x);
    piece.setAttribute("y", Number(y) + this.army.facts.foot);
    piece.dataset.title = this.title(code);
    const column = document.createElementNS(SVG, "g");
    column.setAttribute("class", "column drafted");
    column.dataset.square = square;
    column.append(piece);
    element.closest(".part").querySelector(".columns").append(column);
    element.dataset.bare = element.getAttribute("aria-label");
    element.setAttribute("aria-label", `${square}: your ${this.title(code)}`);
    element.classList.add("is-held");
  }

  button(code) {
    return this.panel.querySelector(`[data-code="${CSS.escape(code)}"]`);
  }

  show() {
    const {army, hand, panel} = this;
    for (const code of army.kinds.keys()) {
      const button = this.button(code);
      button.setAttribute("aria-pressed", String(hand?.code === code && !hand.from));
      button.setAttribute("aria-disabled", String(!army.affords(code)));
      button.querySelector("[data-supply]").textContent = army.left(code);
    }
    const texts = {spent: army.spent(), rest: army.rest(), reason: this.refusal || army.problem()};
    for (const [name, text] of Object.entries(texts)) panel.querySelector(`[data-draft="${name}"]`).textContent = text;
    panel.querySelector(".reason").classList.toggle("bad", Boolean(this.refusal));
    panel.querySelector("[data-draft-act=submit]").disabled = Boolean(army.problem());
    panel.querySelector("[data-draft-act=take]").disabled = !hand?.from;
    panel.querySelector("[data-draft-act=clear]").disabled = !army.chosen.size;
  }

  // Dragging with the mouse: a piece of the panel or the army to its square, or off the board to remove it.
  drag() {
    let held = null; // {hand, x, y, ghost}

    const grab = (event, hand) => {
      if (event.pointerType === "touch" || event.button !== 0 || !hand || !this.active) return;
      held = {hand, x: event.clientX, y: event.clientY, ghost: null};
    };
    this.panel.addEventListener("pointerdown", (event) => {
      const code = event.target.closest("[data-code]")?.dataset.code;
      grab(event, code && this.army?.affords(code) && {code});
    });
    this.board.frame.addEventListener("pointerdown", (event) => {
      const from = event.target.closest(".square")?.dataset.square;
      const code = this.army?.chosen.get(from);
      grab(event, code && {code, from});
    });
    window.addEventListener("pointermove", (event) => {
      if (!held) return;
      if (!held.ghost) {
        if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < MIN_DRAG_PX) return;
        held.ghost = this.button(held.hand.code).querySelector("svg").cloneNode(true);
        held.ghost.classList.add("draft-ghost");
        held.ghost.querySelector("[id]").removeAttribute("id");
        document.body.append(held.ghost);
        this.hold(held.hand, `${this.title(held.hand.code)} chosen.`);
      }
      held.ghost.style.translate = `${event.clientX}px ${event.clientY}px`;
    });
    window.addEventListener("pointerup", (event) => {
      const {hand, ghost} = held ?? {};
      held = null;
      if (!ghost) return;
      ghost.remove();
      const square = document.elementFromPoint(event.clientX, event.clientY)?.closest(".square");
      if (square && this.board.frame.contains(square)) {
        if (square.dataset.square !== hand.from) this.put(hand, square.dataset.square);
      } else if (hand.from) this.takeBack(hand.from);
    });
    window.addEventListener("pointercancel", () => {
      held?.ghost?.remove();
      held = null;
    });
  }
}
