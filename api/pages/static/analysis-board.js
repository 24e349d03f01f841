// The analysis board: moves of all sides are tried out and kept in a tree; nothing is played. Legality, positions and
// pictures come from the server.

import {call, sentence} from "./api.js";
import {ANY, write} from "./move-tree.js";

const NOTHING_AFTER = new Set(["resign", "wait"]);
const MAX_COMMENT_CHARACTERS = 500;

export class AnalysisBoard {
  // `panel` holds the tree and its buttons, `api` and `pictures` are addresses, `page` has the words of ends. `on` has
  // turned(), opened(), closed(), compose(compositions, line), which offers moves to compose after a line,
  // confirm(question), which resolves to a boolean, copy(address) and say(text, bad).
  constructor({panel, board, api, pictures, names, page, on}) {
    Object.assign(this, {panel, board, api, pictures, names, page, on});
    this.sheet = null;
    this.asked = 0; // numbers the requests, so that a late answer never replaces a newer one
    this.added = null; // settles once every move entered so far has been added or refused
    this.part("answers").addEventListener("click", (event) =>
      this.answer(event.target.closest("[data-then]")?.dataset.then),
    );
    for (const [name, act] of Object.entries({
      save: () => this.save(),
      undo: () => this.undo(),
      remove: () => this.remove(),
      close: () => this.leave(),
      any: () => this.any(),
      share: () => this.on.copy(this.address()),
    }))
      this.button(name).addEventListener("click", act);
    this.remark = remarkField();
    this.remark.input.addEventListener("input", () => this.annotate(this.remark.input.value));
    this.part("where").after(this.remark);
    addEventListener("beforeunload", (event) => {
      if (this.changed) event.preventDefault();
    });
  }

  // Whether there is something to be saved.
  get changed() {
    return Boolean(this.sheet?.save && this.undos.length);
  }

  // The address that opens the current position.
  address() {
    const line = this.tree.path().join(" ");
    return `${location.origin}${location.pathname}?${new URLSearchParams({ply: this.ply, line})}`;
  }

  get active() {
    return this.sheet !== null;
  }

  part(name) {
    return this.panel.querySelector(`[data-analysis="${name}"]`);
  }

  button(name) {
    return this.panel.querySelector(`[data-analysis-act="${name}"]`);
  }

  // Opens the analysis board. `sheet` has title, help, seat (the owner of the lines, or null), words(node) and, if the
  // tree can be saved, save(tree); `tree` begins after `ply` plies of the match.
  async open(sheet, tree, ply) {
    const focused = document.activeElement.matches("input, textarea") ? null : document.activeElement;
    Object.assign(this, {sheet, tree, ply, undos: [], seen: new Map(), added: Promise.resolve()});
    this.part("title").textContent = sheet.title;
    this.part("help").textContent = sheet.help;
    this.button("save").hidden = !sheet.save;
    this.button("share").hidden = sheet.seat !== null; // conditional moves are nobody else's business
    this.part("answers").hidden = this.button("any").hidden = true; // until the position is known
    this.panel.hidden = false;
    this.on.opened();
    // Do not take the focus from a field that is being typed into.
    if ((await this.show()) && [focused, document.body].includes(document.activeElement)) this.board.home();
  }

  // Continues with another tree from another ply and keeps whether there are unsaved changes.
  async goOn(tree, ply) {
    Object.assign(this, {tree, ply, undos: this.undos.length ? [tree.snapshot()] : [], seen: new Map()});
    await this.show();
  }

  close() {
    const focused = this.panel.contains(document.activeElement);
    this.asked += 1;
    this.sheet = null;
    this.panel.hidden = true;
    this.on.closed();
    if (focused) this.board.home();
  }

  async leave() {
    if (
      this.changed &&
      !(await this.on.confirm({
        ask: "Leave without saving?",
        consequence: "Your unsaved changes are lost.",
        yes: "Leave",
      }))
    )
      return;
    this.close();
  }

  // Whether the current position depends on a move that is not known yet.
  get blind() {
    return this.tree.path().includes(ANY);
  }

  // Resolves to the position after a line and its picture; both are requested once.
  look(line) {
    const {seen} = this;
    const key = JSON.stringify([this.ply, this.on.turned(), line]);
    if (!seen.has(key)) {
      const body = {ply: this.ply, line};
      const found = Promise.all([call("POST", `${this.api}/positions`, body), this.picture(body)]).then(
        ([place, picture]) => ({...place, picture}),
      );
      found.catch(() => seen.delete(key));
      seen.set(key, found);
    }
    return seen.get(key);
  }

  async picture(body) {
    const answer = await fetch(`${this.pictures}?turned=${this.on.turned()}`, {
      method: "POST",
      headers: {"Content-Type": "application/json", Accept: "image/svg+xml, application/problem+json"},
      body: JSON.stringify(body),
    });
    return answer.text();
  }

  // Shows the current position; resolves to whether it did.
  async show() {
    const number = ++this.asked;
    const known = this.tree.path();
    const line = this.blind ? known.slice(0, known.indexOf(ANY)) : known;
    this.board.offer({});
    this.on.compose([]);
    this.on.say("");
    try {
      const place = await this.look(line);
      if (number !== this.asked || !this.active) return false;
      this.place = place;
      this.board.show(place.picture);
      this.board.offer(this.blind ? {} : place.hints);
      this.on.compose(this.blind ? [] : place.compositions, {ply: this.ply, line});
      this.render();
      return true;
    } catch (error) {
      if (number === this.asked && this.active) this.on.say(error.message, true);
      return false;
    }
  }

  render() {
    const {tree, sheet, place} = this;
    const {current} = tree;
    write(this.part("tree"), tree, sheet.words, (node) => this.go(node));
    this.part("where").textContent = this.where();
    const answered =
      sheet.seat !== null && current.parent && current.seat !== sheet.seat && !(current.parent.move === ANY);
    this.part("answers").hidden = !answered;
    for (const button of this.part("answers").querySelectorAll("[data-then]"))
      button.setAttribute("aria-pressed", String((current.then || "") === button.dataset.then));
    this.button("any").hidden =
      sheet.seat === null ||
      this.blind ||
      Boolean(place.result) ||
      place.to_move === sheet.seat ||
      current.next.some((child) => child.move === ANY);
    this.remark.hidden = !sheet.save || sheet.seat !== null || !current.parent;
    this.remark.input.value = current.comment ?? "";
    this.button("remove").disabled = !current.parent;
    this.button("undo").disabled = !this.undos.length;
    this.button("save").disabled = !this.undos.length;
  }

  where() {
    const {current} = this.tree;
    const {place} = this;
    const after = current.parent ? `After ${current.move === ANY ? "any other move" : current.spelled}: ` : "";
    if (current.parent?.move === ANY) return `${after}no move can follow the answer to any other move.`;
    if (current.move === ANY) return `${after}type your answer. It is played if it is legal then.`;
    if (place.result) {
      const words = JSON.parse(this.page.dataset.reasons ?? "{}")[place.result.reason];
      return sentence(`${after}the game is over: ${words ?? place.result.reason.replaceAll("-", " ")}`);
    }
    if (place.result_known === false)
      return `${after}it takes too long to tell whether the game is over here. A played move always settles it.`;
    if (!current.parent && place.to_move === this.sheet.seat)
      return `It is your turn: begin with your own move, which you then play yourself.`;
    const mover =
      place.to_move === this.sheet.seat
        ? `you (${this.names[place.to_move]}) answer`
        : `${this.names[place.to_move]} to move`;
    return `${sentence(`${after}${mover}`)}`;
  }

  go(node) {
    this.tree.current = node;
    return this.show();
  }

  // Goes one move back or forward, or to the start or end of the line.
  step(kind) {
    let node = this.tree.current;
    if (kind === "first") node = this.tree.root;
    else if (kind === "previous") node = node.parent || node;
    else if (kind === "next") node = node.next[0] || node;
    else while (node.next.length) [node] = node.next;
    return this.go(node);
  }

  // Adds a move, as written by the board or the player, after the moves entered before it, which may still be pending.
  // Rejects with the reason if it is not possible.
  add(text) {
    const added = this.added.then(() => this.addNext(text));
    this.added = added.catch(() => {});
    return added;
  }

  async addNext(text) {
    const {tree, sheet} = this;
    if (!sheet) return;
    const node = tree.current;
    if (node.parent?.move === ANY) throw new Error("No move can follow the answer to any other move.");
    let fields = {move: text, seat: null};
    if (!this.blind) {
      const path = tree.path();
      const [before, place] = await Promise.all([this.look(path), this.look([...path, text])]);
      if (sheet !== this.sheet) return;
      if (tree !== this.tree || node !== tree.current)
        throw new Error("Another position is shown now: enter the move again.");
      fields = {move: place.line.at(-1), spelled: place.spelled.at(-1), seat: before.to_move};
    }
    const own = fields.seat === null || fields.seat === sheet.seat;
    const replaced =
      own && node.parent && sheet.seat !== null ? node.next.filter((child) => child.move !== fields.move) : [];
    if (!node.next.some((child) => child.move === fields.move)) this.remember();
    if (replaced.length) node.next = [];
    if (NOTHING_AFTER.has(node.then)) node.then = null;
    tree.add(fields);
    if ((await this.show()) && replaced.length) this.on.say(`It replaces ${replaced[0].spelled}.`);
  }

  any() {
    this.remember();
    this.tree.add({move: ANY, seat: this.place.to_move});
    return this.show();
  }

  answer(then) {
    if (then === undefined) return;
    this.remember();
    const {current} = this.tree;
    current.then = then || null;
    if (NOTHING_AFTER.has(then)) current.next = [];
    this.render();
    this.panel.querySelector(`[data-then="${then}"]`).focus();
  }

  // Comments on the current move; all that is typed about it in a row is undone at once.
  annotate(comment) {
    const {current} = this.tree;
    if (this.annotated !== current) this.remember();
    this.annotated = current;
    current.comment = comment;
    this.render();
  }

  remove() {
    this.remember();
    this.tree.remove();
    return this.show();
  }

  remember() {
    this.undos.push(this.tree.snapshot());
  }

  undo() {
    this.undos.pop()();
    return this.show();
  }

  async save() {
    this.button("save").disabled = true;
    try {
      await this.sheet.save(this.tree);
      this.undos = [];
      this.annotated = null; // a comment that goes on is a new change
      if (this.active) this.render();
    } catch (problem) {
      const [place] = Object.keys(problem.errors || {});
      const node = place && this.at(place);
      if (node) await this.go(node);
      this.button("save").disabled = false;
      this.on.say(problem.message, true);
    }
  }

  // The node that an error points at, such as lines.0.next.1.move.
  at(place) {
    let node = this.tree.root;
    for (const number of place.match(/\d+/g) || []) node = node?.next[number];
    return node === this.tree.root ? null : node;
  }
}

// The field for a comment on the current move.
function remarkField() {
  const label = document.createElement("label");
  label.className = "remark";
  label.input = Object.assign(document.createElement("input"), {maxLength: MAX_COMMENT_CHARACTERS});
  label.append("Comment on this move ", label.input);
  return label;
}
