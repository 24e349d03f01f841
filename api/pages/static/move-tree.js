// A tree of moves and its notation: one paragraph per line of play, branches indented below the move they follow. A node
// is {move, spelled, seat, then, comment, next, played, parent}; "*" is any other move.

export const ANY = "*";

const ACTIONS = {resign: "resign", "accept-draw": "accept a draw", wait: "wait"};

export class Tree {
  // `nodes` is the tree as JSON: {move, then, comment, next} and, if known, spelled, seat and played.
  constructor(nodes = []) {
    this.root = {move: null, next: [], parent: null};
    this.root.next = nodes.map((node) => grow(node, this.root));
    this.current = this.root;
  }

  get size() {
    const count = (node) => node.next.reduce((sum, child) => sum + count(child), node.parent ? 1 : 0);
    return count(this.root);
  }

  // The moves from the root to a node.
  path(node = this.current) {
    return node.parent ? [...this.path(node.parent), node.move] : [];
  }

  // Goes to a move after the current one; adds it if it is not there.
  add(fields) {
    let node = this.current.next.find((child) => child.move === fields.move);
    if (!node) {
      node = grow({next: [], ...fields}, this.current);
      this.current.next.push(node);
    }
    this.current = node;
    return node;
  }

  // Removes the current move and everything after it.
  remove() {
    const {parent} = this.current;
    parent.next = parent.next.filter((child) => child !== this.current);
    this.current = parent;
  }

  // Returns the subtree below a node as a tree.
  from(node) {
    return new Tree(node.next.map(plain));
  }

  // The form that the API takes.
  toJSON() {
    return this.root.next.map(bare);
  }

  // Returns a function that restores the tree as it is now.
  snapshot() {
    const nodes = this.root.next.map(plain);
    const path = this.path();
    return () => {
      this.root.next = nodes.map((node) => grow(node, this.root));
      this.current = this.root;
      for (const move of path) this.current = this.current.next.find((child) => child.move === move) || this.current;
    };
  }
}

function grow({next = [], ...fields}, parent) {
  const node = {then: null, ...fields, spelled: fields.spelled || fields.move, parent};
  node.next = next.map((child) => grow(child, node));
  return node;
}

function plain({parent, next, ...fields}) {
  return {...fields, next: next.map(plain)};
}

function bare({move, then, comment, next}) {
  return {move, ...(then ? {then} : {}), ...(comment ? {comment} : {}), next: next.map(bare)};
}

// Returns the last node that has been played; its subtree is the rest.
export function playedNode(tree) {
  let node = tree.root;
  for (let on = node; on; on = on.next.find((child) => child.played)) node = on;
  return node;
}

// Writes `tree` into `place`. `words(node)` is the text before a move; with `press` moves become buttons.
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
  if (node.comment) parts.push(" ", Object.assign(document.createElement("q"), {textContent: node.comment}));
  return parts;
}

// The words of conditional moves of `seat`: if they play this, then I play that.
export function conditions(seat, names) {
  return (node) => {
    const own = node.seat === seat || (node.seat === null && node.parent?.move === ANY);
    if (own) return node.parent.parent ? "then" : "after my own";
    return names.length > 2 && node.seat !== null && node.seat !== undefined ? `if ${names[node.seat]} plays` : "if";
  };
}
