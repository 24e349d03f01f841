// A playable figure: a position with steps, each of which asks for a move or for a forbidden one. The server has sent
// all moves, boards and refusals (api/pages/learning/playable.py); nothing is requested, and no rules are known here.

import {enableArrows} from "./arrows.js";
import {Board} from "./board.js";
import {BoardSteps} from "./board-steps.js";
import {enableDragging} from "./drag.js";
import * as motion from "./motion.js";
import {enableZoom} from "./zoom.js";

const REPLY_MS = 700;

const bare = (text) => text.toLowerCase().replace(/(?<=\d)x|[^a-z0-9+@*]/g, "");
const sentence = (text) =>
  `${/^[a-z]{1,2}\d/.test(text) ? text : text[0].toUpperCase() + text.slice(1)}`.replace(/([^.?!])$/, "$1.");

export class FigurePlayer {
  // `section` is the markup of playable.html. `on` has optionally accepted(move), solved(), called when the last step is
  // done, and wrong(move), which returns the message about a legal move that is not accepted.
  constructor(section, on = {}) {
    Object.assign(this, {section, on});
    this.board = new Board(this.part("board"), {
      choose: (move) => (this.composing ? this.add(move) : this.play(move)),
      options: (options) => this.showOptions(options),
      inspect() {},
      idle: (square) => this.say(this.step?.why_not[square] ?? "", true),
      missed: (from, to) => {
        const reason = this.step?.why_not_there[from]?.[to];
        if (reason) this.say(reason, true);
        return Boolean(reason);
      },
      say: (text) => this.say(text, false, true),
    });
    this.board.motion = motion;
    enableDragging(this.board);
    enableArrows(this.board);
    enableZoom(this.board, this.part("whole"), (text) => this.say(text));
    this.part("again").addEventListener("click", () => {
      this.start(this.figure);
      this.board.home();
    });
    this.part("hint").addEventListener("click", () => this.say(this.step?.hint ?? ""));
    this.part("type").addEventListener("submit", (event) => this.type(event));
  }

  part(name) {
    return this.section.querySelector(`[data-part="${name}"]`);
  }

  get step() {
    return this.waiting ? undefined : this.figure.steps[this.number];
  }

  // Begins a figure from its first step.
  start(figure) {
    clearTimeout(this.waiting);
    Object.assign(this, {figure, number: 0, waiting: null, composing: null});
    this.boards = new BoardSteps();
    this.boards.faces = figure.faces;
    this.board.show(figure.picture);
    this.part("diagram").textContent = figure.diagram;
    this.part("text").textContent = figure.text;
    this.part("text").hidden = !figure.text;
    this.say("");
    this.offer();
    if (!figure.steps.length) this.on.solved?.();
  }

  offer() {
    const {step} = this;
    this.part("goal").textContent = step?.goal ?? "";
    this.part("goal").hidden = !step;
    this.part("hint").hidden = !step?.hint;
    this.part("type").hidden = !step;
    this.part("again").hidden = !this.figure.steps.length;
    this.board.offer(this.hints);
    const {composition} = step ?? {};
    if (composition) this.showOptions([{text: composition.title, take: () => this.compose(0)}]);
  }

  // The moves that can be pressed or typed, or the parts of the one that is put together.
  get hints() {
    return (this.composing ?? this.step)?.hints ?? {};
  }

  // Puts a move together as the figure does it: each stage asks for one part, the last one for the whole move.
  compose(number) {
    const {accepted, composition} = this.step;
    this.composing = composition.stages[number];
    if (this.composing.board) this.draw(this.composing);
    this.board.offer(this.hints);
    const [move] = Object.keys(accepted);
    if (!this.composing.part) this.showOptions([{text: `Play ${move}`, take: () => this.play(move)}]);
    this.board.home();
  }

  add(part) {
    const {stages} = this.step.composition;
    if (part !== this.composing.part) return this.say(`${part} is possible, but it is not asked for here.`, true);
    this.compose(stages.indexOf(this.composing) + 1);
    this.say(`${part}: right.${this.composing.part ? "" : " Now play the move."}`);
  }

  showOptions(options) {
    this.part("options").replaceChildren(
      ...options.map(({text, take}) => {
        const button = document.createElement("button");
        Object.assign(button, {type: "button", textContent: text});
        button.addEventListener("click", take);
        return button;
      }),
    );
  }

  type(event) {
    event.preventDefault();
    if (!this.step) return; // the answer is on its way
    const field = this.part("typed");
    const text = bare(field.value);
    const pressed = Object.values(this.hints).flat();
    const moves = [...pressed.map((hint) => hint.move), ...Object.keys(this.step.accepted)];
    const fitting = [...new Set(moves)].filter((move) => bare(move) === text);
    if (fitting.length !== 1)
      return this.say(`${field.value.trim() || "Nothing"} is no move that is possible here.`, true);
    field.value = "";
    if (this.composing && !Object.hasOwn(this.step.accepted, fitting[0])) this.add(fitting[0]);
    else this.play(fitting[0]);
  }

  play(move) {
    const {step} = this;
    if (!step) return;
    if (Object.hasOwn(step.refused, move)) {
      this.say(`${sentence(step.refused[move])} That is why ${move} is not possible.`);
      return this.advance();
    }
    const after = step.accepted[move];
    if (!after && this.on.wrong) return this.say(this.on.wrong(move), true);
    if (!after) {
      const asked = Object.keys(step.refused).length
        ? "here a forbidden move is to be tried"
        : "it is not asked for here";
      return this.say(`${move} is a legal move, but ${asked}.`, true);
    }
    this.on.accepted?.(move);
    this.draw(after);
    if (!step.reply) {
      this.say(step.done || `${move}: right.`);
      return this.advance();
    }
    this.say(`${move}: right.`);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.draw(step.reply);
      this.say(`${move}: right. The answer is ${step.reply.move}. ${step.done}`);
      this.advance();
    }, REPLY_MS);
    this.board.offer({});
  }

  // Shows the board after a move, and brings its text up to date.
  draw({board, diagram}) {
    this.boards.steps.set(1, board);
    const svg = this.part("board").querySelector("svg");
    const before = this.board.present();
    this.boards.take(svg, 0, 1);
    this.board.show(svg, before);
    if (diagram) this.part("diagram").textContent = diagram; // none while a move is put together
  }

  advance() {
    this.composing = null;
    this.number += 1;
    this.offer();
    if (!this.step) this.on.solved?.();
  }

  // Says a text below the board, `bad` for a refusal; `aside` is for screen readers only.
  say(text, bad = false, aside = false) {
    const line = this.part("said");
    this.part("aside").textContent = aside ? text : "";
    if (aside) return;
    line.textContent = text;
    line.classList.toggle("bad", bad);
  }
}
