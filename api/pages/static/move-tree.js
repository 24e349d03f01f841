// A tree of moves, and how it is written: one paragraph per line of play, branches indented below the move they
// follow. A node is {move, spelled, seat, then, next, played, parent}; "*" is any other move.

export const ANY = "*";

const ACTIONS = {resign: "resign", "accept-draw": "accept a draw", wait: "wait"};

export class Tree {
  // `nodes` is the tree as JSON: {move, then, next} and, if known, spelled, seat and played.
  constructor(nodes = []) {
    this.root = {move: null, next: [], parent: null};
    this.root.next = nodes.map((node) => grown(node, this.root));
    this.current = this.root;
  }

  get size() {
    const count = (node) => node.next.reduce((sum, each) => sum + count(each), node.parent ? 1 : 0);
    return count(this.root);
  }

  // The moves from the root to a node.
  path(node = this.current) {
    return node.parent ? [...this.path(node.parent), node.move] : [];
  }

  // Adds a move after the current one, or finds it there, and goes to it.
  add(fields) {
    let node = this.current.next.find((each) => each.move === fields.move);
    if (!node) {
      node = grown({next: [], ...fields}, this.current);
      this.current.next.push(node);
    }
    this.current = node;
    return node;
  }

  // Takes the current move and all that follows it out.
  remove() {
    const {parent} = this.current;
    parent.next = parent.next.filter((each) => each !== this.current);
    this.current = parent;
  }

  // The tree from a node on, as a tree of its own.
  from(node) {
    return new Tree(node.next.map(plain));
  }

  // What the API is sent.
  toJSON() {
    return this.root.next.map(bare);
  }

  // A copy that later changes do not touch, and how to come back to it.
  snapshot() {
    const nodes = this.root.next.map(plain);
    const path = this.path();
    return () => {
      this.root.next = nodes.map((node) => grown(node, this.root));
      this.current = this.root;
      for (const move of path) this.current = this.current.next.find((each) => each.move === move) || this.current;
    };
  }
}

function grown({next = [], ...fields}, parent) {
  const node = {then: null, ...fields, spelled: fields.spelled || fields.move, parent};
  node.next = next.map((each) => grown(each, node));
  return node;
}

function plain({parent, next, ...fields}) {
  return {...fields, next: next.map(plain)};
}

function bare({move, then, next}) {
  return {move, ...(then ? {then} : {}), next: next.map(bare)};
}

// Goes down what has been played; what follows there is what is left of a tree.
export function leftOf(tree) {
  let node = tree.root;
  for (let on = node; on; on = on.next.find((each) => each.played)) node = on;
  return node;
}

// Writes `tree` into `place`. `words(node)` returns what is put before a move, `press` makes moves buttons.
export function write(place, tree, words, press = null) {
  place.replaceChildren(...(tree.root.next.length ? [branches(tree.root.next, tree, words, press)] : []));
}

function branches(nodes, tree, words, press) {
  const list = document.createElement("ul");
  for (const first of nodes) {
    const item = document.createElement("li");
    let node = first;
    for (;;) {
      item.append(...written(node, tree, words, press));
      if (node.next.length !== 1) break;
      item.append(" ");
      [node] = node.next;
    }
    if (node.next.length) item.append(branches(node.next, tree, words, press));
    list.append(item);
  }
  return list;
}

function written(node, tree, words, press) {
  const move = document.createElement(press ? "button" : "b");
  move.textContent = node.move === ANY ? "any other move" : node.spelled;
  move.className = node.played ? "played" : "";
  if (press) {
    move.type = "button";
    if (node === tree.current) move.setAttribute("aria-current", "true");
    move.addEventListener("click", () => press(node));
  }
  const parts = [`${words(node)} `, move];
  if (node.played) parts.push(" ✓");
  if (node.then) parts.push(` then ${ACTIONS[node.then]}`);
  return parts;
}

// The words of conditional lines of `seat`: if they play this, then I play that.
export function conditions(seat, names) {
  return (node) => {
    const own = node.seat === seat || (node.seat === null && node.parent?.move === ANY);
    if (own) return node.parent.parent ? "then" : "after my own";
    return names.length > 2 && node.seat !== null && node.seat !== undefined ? `if ${names[node.seat]} plays` : "if";
  };
}
