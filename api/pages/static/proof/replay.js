// Steps through the positions that a bundle records.

import {drawPosition} from "./board-picture.js";

const STEPS = {
  first: () => 0,
  previous: (shown) => shown - 1,
  next: (shown) => shown + 1,
  last: (_shown, count) => count - 1,
};
const KEYS = {ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last"};

export class Replay {
  constructor(section, tables) {
    this.section = section;
    this.tables = tables;
    this.positions = [];
    this.shown = 0;
    section.addEventListener("click", ({target}) => this.step(target.closest("[data-step]")?.dataset.step));
    document.addEventListener("keydown", (event) => {
      const step = KEYS[event.key];
      if (!step || !this.positions.length || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
      if (!section.contains(document.activeElement) && !event.key.startsWith("Arrow")) return; // they scroll the page
      event.preventDefault();
      this.step(step);
    });
  }

  // Shows the last position of a list of {version, position} that follow `events`, or says that there are none.
  open(game, positions, events) {
    this.game = game;
    this.positions = positions;
    this.events = events;
    this.section.hidden = false;
    this.find("#no-positions").hidden = positions.length > 0;
    this.find("#player").hidden = positions.length === 0;
    if (positions.length) this.show(positions.length - 1);
  }

  close() {
    this.positions = [];
    this.section.hidden = true;
  }

  step(name) {
    if (name) this.show(STEPS[name](this.shown, this.positions.length));
  }

  show(wanted) {
    const last = this.positions.length - 1;
    this.shown = Math.max(0, Math.min(last, wanted));
    const {version, position} = this.positions[this.shown];
    const where = `Position ${this.shown + 1} of ${last + 1}, after event ${version}${this.move(version)}`;
    let drawn = {svg: "", words: "this page cannot draw it", squares: []};
    try {
      drawn = drawPosition(this.game, this.tables, position, where);
    } catch (error) {
      drawn.words = `this page cannot draw it: ${error.message}`;
    }
    this.find("#board").replaceChildren(drawn.svg);
    this.find("#shown").textContent = `${where}: ${drawn.words}`;
    this.find("#notation").textContent = position;
    const words = drawn.squares.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    });
    this.find("#words").replaceChildren(...words);
    for (const button of this.section.querySelectorAll("[data-step]")) {
      const backwards = ["first", "previous"].includes(button.dataset.step);
      const dead = this.shown === (backwards ? 0 : last);
      button.setAttribute("aria-disabled", String(dead));
    }
  }

  // The move that an event records, in words; empty for other events.
  move(version) {
    const move = this.events[version - 1]?.data?.move;
    return typeof move === "string" ? ` (${move})` : "";
  }

  find(selector) {
    return this.section.querySelector(selector);
  }
}
