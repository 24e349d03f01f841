// Puts a move together part by part. After each part the server says what can follow, whether the whole is a move yet,
// and why not; it draws the board as it stands then. What a part is, only the server knows.

import {call, sentence} from "./api.js";
import {uncover} from "./square-geometry.js";

export class Composer {
  // `offers` is the place of the buttons, `panel` that of the move in the making. `on` has picture(kind, parts), which
  // resolves to the board's markup, choose(move), leave() and say(text, bad).
  constructor({offers, panel, address, board, on}) {
    Object.assign(this, {offers, panel, address, board, on});
    this.composition = null;
    this.parts = [];
    this.move = null;
    this.asked = 0; // numbers the questions, so that a late answer never replaces a later one
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

  // Shows a button for each kind of move that can be put together now.
  offer(compositions) {
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
      this.on.say(`${title}, thanks to ${sources.join(" and ")}. Pieces that can take part: ${pieces.join(", ")}.`);
  }

  // Adds what was chosen on the board.
  async add(part) {
    if (await this.change([...this.parts, part]))
      this.on.say(`${part}. ${this.move ? `${this.move} can be played.` : this.reason}`);
  }

  // Asks the server about other parts; resolves to whether these now are the parts.
  async change(parts) {
    const number = ++this.asked;
    const {kind, title} = this.composition;
    const {hints} = this.board;
    this.board.offer({});
    try {
      const [answer, picture] = await Promise.all([
        call("POST", `${this.address}/compositions`, {kind, parts}),
        this.on.picture(kind, parts),
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

  // Shows the move in the making again, after it was chosen and not submitted.
  resume() {
    return this.change(this.parts);
  }

  // Makes room while a move waits for its confirmation.
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
