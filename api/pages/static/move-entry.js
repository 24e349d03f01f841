// Enters a move: chooses it, confirms it and submits it once.

import {newKey} from "./api.js";
import {uncover} from "./square-geometry.js";

const at = (id) => document.getElementById(id);

export class MoveEntry {
  // `match` has plies(), shown(), standing(), turned(), submit(body, key), refresh(options) and say(text, bad, aside).
  constructor({match, board, composer, analysis}) {
    Object.assign(this, {match, board, composer, analysis});
    this.chosen = null; // the move to be confirmed, its idempotency key and its last square
    this.storage = `chosen:${match.api}`;
    at("submit").addEventListener("click", () => this.submit());
    at("cancel").addEventListener("click", () => this.cancel());
    at("type-move").addEventListener("submit", (event) => {
      event.preventDefault();
      this.read(at("typed").value.trim());
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get active() {
    return this.chosen !== null;
  }

  // Resolves to the picture of the board after a move or after parts of one.
  async picture(query) {
    try {
      const answer = await fetch(
        `${location.pathname}/board.svg?${new URLSearchParams([["inline", "1"], ["turned", this.match.turned()], ...query])}`,
        {headers: {Accept: "image/svg+xml, application/problem+json"}},
      );
      if (!answer.ok) throw new Error((await answer.json()).detail);
      return answer;
    } catch (error) {
      if (error instanceof TypeError) throw new Error("The server cannot be reached. Try again.");
      throw error;
    }
  }

  // `squares` are those the move was chosen with, none for a typed or composed move. With `atOnce` it is submitted.
  async choose(move, squares = [], atOnce = false) {
    const answer = await this.picture([["try", move]]).catch((error) => {
      if (!this.match.isKept()) throw error;
    });
    const canonical = decodeURIComponent(answer?.headers.get("Rookery-Move") || move);
    const spelled = decodeURIComponent(answer?.headers.get("Rookery-Spelled") || canonical);
    this.chosen = {
      move: canonical,
      key: newKey(),
      end: squares.at(-1) || canonical.match(/[a-z]{1,2}\d{1,2}/g)?.at(-1),
    };
    this.board.offer({});
    this.composer.hide();
    if (answer) this.board.show(await answer.text());
    at("chosen").textContent = spelled;
    if (atOnce && answer) return this.submit();
    this.ask();
    this.match.say(`${spelled} is chosen. Submit it with Enter, or cancel it with Escape.`, false, true);
  }

  // Shows the question whether the chosen move shall be submitted.
  ask() {
    at("confirm").hidden = false;
    at("submit").focus({preventScroll: true});
    uncover(this.board.frame, at("confirm"));
  }

  // A move chosen by squares is complete: where the device asks for it, it is submitted without a question.
  chooseAndSay(move, squares) {
    const atOnce = Boolean(squares?.length && document.documentElement.dataset.atOnce);
    return this.choose(move, squares, atOnce).catch((error) => this.match.say(error.message, true));
  }

  forget() {
    this.composer.stop();
    this.unchoose();
  }

  // Whether the confirmation has the focus; the button loses it while it is disabled during submission.
  focused() {
    return (
      at("confirm").contains(document.activeElement) ||
      Boolean(this.chosen?.pressed && document.activeElement === document.body)
    );
  }

  unchoose() {
    const {end} = this.chosen || {};
    const focused = this.focused();
    this.chosen = null;
    at("confirm").hidden = true;
    if (focused) this.board.focusOn(end);
    at("submit").disabled = false;
    at("with-draw").checked = false;
    at("typed").value = "";
  }

  async cancel() {
    this.unchoose();
    this.match.say("");
    await (this.composer.active ? this.composer.resume() : this.match.refresh());
  }

  // Leaves the move being composed.
  leave() {
    this.forget();
    this.match.say("");
    return this.analysis.active ? this.analysis.show() : this.match.refresh();
  }

  async submit() {
    const {match, chosen} = this;
    if (!chosen || at("submit").disabled) return;
    chosen.pressed = this.focused();
    at("submit").disabled = true;
    match.say("Submitting …", false, true); // the button shows it, and a line would move what is below
    try {
      await match.submit({move: chosen.move, offer_draw: at("with-draw").checked}, chosen.key);
      this.forget();
      await match.refresh({ply: null});
    } catch (problem) {
      await this.recover(problem, "Your move was not played.");
    }
  }

  // After a refusal: keeps a move that may be tried again, reloads an outdated page.
  async recover(problem, consequence) {
    const {match} = this;
    const focused = this.focused();
    at("submit").disabled = false;
    if (focused) at("submit").focus({preventScroll: true});
    if (problem.status === 401) return this.keep();
    if (problem.status === 0 && this.chosen && match.isKept()) return this.queue();
    if ([0, 429, 503].includes(problem.status)) {
      if (this.chosen && at("confirm").hidden) this.ask();
      return match.say(`${problem.message} Press again to repeat it; it counts once only.`, true);
    }
    this.forget();
    await match.refresh({ply: null});
    const stale = problem.code === "stale-version" && "The match has moved on; this is the current state.";
    match.say(`${stale || problem.message} ${consequence}`, true);
  }

  // Keeps the chosen move in this tab until its player has signed in again.
  keep() {
    if (this.chosen) {
      const {move, key} = this.chosen;
      sessionStorage.setItem(this.storage, JSON.stringify({move, key, place: this.match.standing().place}));
    }
    this.match.saySignedOut();
  }

  // Queues the chosen move until the server can be reached.
  async queue() {
    const {move, key} = this.chosen;
    const {queue} = await import("./kept-matches.js");
    queue({path: location.pathname, move, version: this.match.version(), key});
    this.unchoose();
    this.match.say(`${move} is kept on this device, and sent when the connection is back.`);
  }

  // Chooses a move that was kept, unless the match has moved on.
  async restore() {
    const kept = JSON.parse(sessionStorage.getItem(this.storage) ?? "null");
    if (!kept || !this.match.standing().mine) return;
    sessionStorage.removeItem(this.storage);
    if (kept.place !== this.match.standing().place)
      return this.match.say(`The match has moved on: ${kept.move} was not played.`, true);
    await this.chooseAndSay(kept.move);
    if (this.chosen?.move === kept.move) this.chosen.key = kept.key;
  }

  // Reads a typed move.
  async read(move) {
    const {match, analysis} = this;
    at("typed-error").textContent = "";
    at("typed").removeAttribute("aria-invalid");
    try {
      if (!move) throw new Error("Type a move first, for instance one of the moves played so far.");
      await analysis.opening;
      if (analysis.active) {
        await analysis.add(move);
        if (at("typed").value.trim() === move) at("typed").value = "";
        return;
      }
      if (match.shown() !== match.plies()) await match.refresh({ply: null});
      if (!match.standing().mine) throw new Error("It is not your move now.");
      await this.choose(move);
    } catch (error) {
      at("typed-error").textContent = error.message;
      at("typed").setAttribute("aria-invalid", "true");
    }
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || at("ask").open) return;
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === "Escape" && this.active) this.cancel();
    else if (event.key === "Escape" && this.composer.active) this.leave();
    else if (event.key === "Enter" && this.active && !event.target.closest("button, a, summary")) this.submit();
  }
}
