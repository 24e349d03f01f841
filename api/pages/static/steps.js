// Stepping through the moves by buttons, by the list of moves and by keys. Known steps are applied to the board at once;
// others are requested, some of them in advance.

import {call} from "./api.js";
import {BoardSteps} from "./board-steps.js";

const KEYS = {
  ",": "previous",
  ".": "next",
  ArrowLeft: "previous",
  ArrowUp: "previous",
  ArrowRight: "next",
  ArrowDown: "next",
};
const MAX_STEPS_ASKED = 30; // steps in one answer of the server
const MIN_STEPS_AHEAD = 1; // with fewer known steps ahead, more are requested

const at = (id) => document.getElementById(id);

export class Steps {
  // `match` has version(), plies(), shown(), turned(), refresh(options) and say(text, bad, aside). `on` has leave(),
  // which closes whatever shows another board, came(), called after a step, and stepped(), before one made by the user.
  constructor({page, analysis, board, match, on}) {
    Object.assign(this, {analysis, board, match, on});
    this.boardSteps = new BoardSteps();
    this.moves = []; // as listed: steps become invalid where another list differs
    this.turned = match.turned();
    this.asking = null; // the pending request for more steps
    this.wanted = 0; // numbers the requested plies, so that a late answer never replaces a newer one
    this.svg = at("board").querySelector("svg"); // the board after `ply` plies, also while another is shown in its place
    this.ply = match.shown();
    this.markup = ""; // of that board as drawn by the server, once known
    this.learn();
    page.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.key(event));
    at("diagram")
      .closest("details")
      .addEventListener("toggle", () => this.describe());
  }

  // Adopts a board drawn by the server, in place or (`aside`) while another one is shown. A board that is already shown
  // is left alone: the user may be about to press it.
  adopt(markup, ply, aside) {
    const shown = markup === this.markup && this.svg.isConnected;
    if (aside) {
      const holder = document.createElement("div");
      holder.innerHTML = markup;
      this.svg = holder.firstElementChild;
    } else if (!shown) {
      this.board.show(markup);
      this.svg = at("board").querySelector("svg");
    }
    this.markup = markup;
    this.ply = ply;
  }

  // Stores the steps of a new page and drops known ones that are no longer valid.
  learn() {
    const moves = [...at("moves").querySelectorAll("[data-ply]")].map((link) => link.textContent);
    const same = moves.findIndex((move, ply) => move !== this.moves[ply]);
    this.boardSteps.forget(this.turned !== this.match.turned() ? 0 : same < 0 ? moves.length : same);
    this.moves = moves;
    this.turned = this.match.turned();
    this.boardSteps.keep(JSON.parse(at("steps").textContent));
  }

  // Shows the position after this number of plies; resolves once it is shown.
  async show(wanted) {
    const {match, on} = this;
    const ply = Math.max(0, Math.min(match.plies(), wanted));
    const number = ++this.wanted;
    on.leave();
    const refreshing = at("board").hasAttribute("aria-busy");
    if (ply === match.shown() && !refreshing) return this.svg.isConnected || this.take(ply);
    if (this.boardSteps.reach(this.ply, ply) !== ply) await this.ask(ply).catch(() => {});
    if (number !== this.wanted) return;
    if (this.boardSteps.reach(this.ply, ply) !== ply) return match.refresh({ply: ply === match.plies() ? null : ply});
    if (refreshing) match.refresh({ply: ply === match.plies() ? null : ply}); // the pending refresh would show another ply
    this.take(ply);
    this.prepare();
  }

  take(ply) {
    const back = ply < this.ply;
    const before = this.board.present();
    this.boardSteps.take(this.svg, this.ply, ply);
    this.markup = ""; // the board differs from the server's drawing now
    this.board.show(this.svg, before);
    this.ply = ply;
    this.back = back;
    at("board").dataset.shown = ply;
    const plies = this.match.plies();
    at("shown").textContent = `${ply} / ${plies}`;
    const past = at("past").querySelector("p");
    const left = ply === plies && past.contains(document.activeElement);
    past.hidden = ply === plies;
    past.querySelector("b").textContent = ply;
    if (left) this.board.home();
    this.point(ply);
    history.replaceState(null, "", ply === plies ? location.pathname : `?ply=${ply}`);
    this.describe();
    this.on.came();
  }

  // Marks a ply in the list of moves, and moves the focus if it is in the list.
  point(ply) {
    const moves = at("moves");
    const current = moves.querySelector(`[data-ply="${ply}"]`);
    moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    current?.setAttribute("aria-current", "true");
    if (moves.contains(document.activeElement)) (current || moves.querySelector("a"))?.focus({preventScroll: true});
  }

  // Requests more steps before they are needed.
  prepare() {
    const end = this.back ? 0 : this.match.plies();
    const reach = this.boardSteps.reach(this.ply, end);
    if (reach !== end && Math.abs(reach - this.ply) < MIN_STEPS_AHEAD) this.ask(end).catch(() => {});
  }

  // Requests the steps after the known ones towards a ply, as many as allowed; resolves once they are known.
  async ask(ply) {
    if (this.asking) await this.asking.catch(() => {});
    const reach = this.boardSteps.reach(this.ply, ply);
    if (reach === ply) return;
    const [from, to] =
      ply < reach
        ? [Math.max(ply, reach - MAX_STEPS_ASKED, 0), reach]
        : [reach, Math.min(ply, reach + MAX_STEPS_ASKED)];
    const {match} = this;
    const version = match.version();
    const turned = match.turned();
    this.asking = call("GET", `${location.pathname}/plies?${new URLSearchParams({from, to, turned, version})}`);
    try {
      const answer = await this.asking;
      if (answer.version_tag === version && version === match.version() && turned === match.turned())
        this.boardSteps.keep(answer);
    } finally {
      this.asking = null;
    }
  }

  // Updates the text diagram while it is open.
  async describe() {
    const diagram = at("diagram");
    const ply = this.ply;
    if (!diagram.closest("details").open || diagram.dataset.ply === String(ply)) return;
    try {
      const {diagram: text, position} = await call("GET", `/api/v1${location.pathname}?ply=${ply}`);
      if (ply !== this.ply) return;
      diagram.dataset.ply = ply;
      diagram.querySelector("pre").textContent = text;
      diagram.querySelector("code").textContent = position;
    } catch (problem) {
      this.match.say(problem.message, true);
    }
  }

  // Goes to a ply on the user's request and announces it.
  async goTo(ply) {
    if (this.analysis.changed) return this.match.say("Save or close the analysis first.");
    if (this.analysis.active) this.analysis.close();
    this.on.stepped();
    await this.show(ply);
    const shown = this.match.shown();
    this.match.say(
      shown ? `After move ${shown} of ${this.match.plies()}: ${this.moves[shown - 1]}.` : "At the start.",
      false,
      true,
    );
  }

  step(kind) {
    if (this.analysis.active) return this.analysis.step(kind);
    const shown = this.match.shown();
    this.goTo({first: 0, previous: shown - 1, next: shown + 1, last: this.match.plies()}[kind]);
  }

  click(event) {
    const link = event.target.closest("[data-ply], [data-step]");
    if (!link || link.closest("#board") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.ply) this.goTo(Number(link.dataset.ply));
    else this.step(link.dataset.step);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) return;
    if (!(event.key in KEYS) || !(event.key.length === 1 || event.target.closest("#moves"))) return;
    event.preventDefault();
    this.step(KEYS[event.key]);
  }
}
