// Composes a move part by part. After each part the server tells the possible next ones, whether the parts are a move
// yet, and draws the resulting board. Only the server can read a part.

import {call, sentence} from "./api.js";
import {uncover} from "./square-geometry.js";

export class Composer {
  // `offers` holds the buttons, `panel` the move being composed. `on` has picture(kind, parts), which resolves to the
  // board's markup, choose(move), leave() and say(text, bad). In an analysis `line` is {ply, line}, the moves before.
  constructor({offers, panel, address, board, on}) {
    Object.assign(this, {offers, panel, address, board, on});
    this.composition = null;
    this.line = null;
    this.parts = [];
    this.move = null;
    this.asked = 0; // numbers the requests, so that a late answer never replaces a newer one
    for (const [name, act] of Object.entries({
      done: () => this.on.choose(this.move),
      undo: () => this.change(this.parts.slice(0, -1)),
      reset: () => this.change([]),
      leave: () => this.on.leave(),
    }))
      this.button(name).addEventListener("click", act);
  }

  get active() {
    return this.composition !== null;
  }

  button(name) {
    return this.panel.querySelector(`[data-compose="${name}"]`);
  }

  text(name, text) {
    this.panel.querySelector(`[data-composed="${name}"]`).textContent = text;
  }

  // Shows a button for each kind of move that can be composed now, or after a line.
  offer(compositions, line = null) {
    if (compositions.length) this.line = line;
    this.offers.replaceChildren(
      ...compositions.map((composition) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "small";
        button.textContent = composition.title;
        button.addEventListener("click", () => this.begin(composition));
        return button;
      }),
    );
  }

  async begin(composition) {
    this.composition = composition;
    this.offer([]);
    const {title, sources, pieces} = composition;
    if (await this.change([]))
      this.on.say(
        `${title}, thanks to what stands on ${sources.join(" and ")}. Pieces that can take part: ${pieces.join(", ")}.`,
      );
  }

  // Adds the part chosen on the board.
  async add(part) {
    if (await this.change([...this.parts, part]))
      this.on.say(`${part}. ${this.move ? `${this.move} can be played.` : this.reason}`);
  }

  // Asks the server about changed parts; resolves to whether they were taken over.
  async change(parts) {
    const number = ++this.asked;
    const {kind, title} = this.composition;
    const {hints} = this.board;
    this.board.offer({});
    try {
      const [answer, picture] = await Promise.all([
        call("POST", `${this.address}/compositions`, {kind, parts, ...this.line}),
        this.on.picture(kind, parts, this.line),
      ]);
      if (number !== this.asked || !this.active) return false;
      this.parts = parts;
      this.move = answer.move;
      this.reason = sentence(answer.reason);
      this.board.show(picture);
      this.board.offer(answer.following);
      this.text("title", title);
      this.text("move", answer.move || parts.join(" · "));
      this.text("reason", this.reason);
      this.button("done").disabled = !answer.move;
      this.button("undo").disabled = this.button("reset").disabled = parts.length === 0;
      this.panel.hidden = false;
      uncover(this.board.frame, this.panel);
      const focused = document.activeElement;
      if (!focused || focused === document.body || focused.disabled) this.board.home();
      return true;
    } catch (error) {
      if (number === this.asked && this.active) {
        if (this.panel.hidden) await this.on.leave();
        else this.board.offer(hints);
        this.on.say(error.message, true);
      }
      return false;
    }
  }

  // Shows the move being composed again, after it was chosen but not submitted.
  resume() {
    return this.change(this.parts);
  }

  // Hides while a move waits for confirmation.
  hide() {
    const focused = this.panel.contains(document.activeElement);
    this.offer([]);
    this.panel.hidden = true;
    if (focused) this.board.home();
  }

  stop() {
    this.asked += 1;
    this.composition = null;
    this.parts = [];
    this.move = null;
    this.hide();
  }
}
