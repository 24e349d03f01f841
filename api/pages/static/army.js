// An army being set up, before it is submitted: which pieces may be placed where.
//
// `facts` is the draft among the legal moves of the API.

export class Army {
  // `placed` lists squares and codes of pieces chosen earlier; impossible ones are left out.
  constructor(facts, placed = []) {
    this.facts = facts;
    this.kinds = new Map(facts.pieces.map((kind) => [kind.code, {...kind, squares: new Set(kind.squares)}]));
    this.chosen = new Map();
    for (const [square, code] of placed) this.place(code, square);
  }

  // The code of the piece on a square, undefined on an empty one.
  at(square) {
    return this.facts.placed[square] ?? this.chosen.get(square);
  }

  codes() {
    return [...Object.values(this.facts.placed), ...this.chosen.values()];
  }

  left(code) {
    return this.kinds.get(code).limit - this.codes().filter((other) => other === code).length;
  }

  spent() {
    return this.codes().reduce((sum, code) => sum + this.kinds.get(code).price, 0);
  }

  rest() {
    return this.facts.budget - this.spent();
  }

  // Whether another piece of this kind is available and affordable.
  affords(code) {
    return this.left(code) > 0 && this.kinds.get(code).price <= this.rest();
  }

  fits(code, square) {
    return this.at(square) === undefined && Boolean(this.kinds.get(code)?.squares.has(square));
  }

  // Places a piece; returns whether that was possible.
  place(code, square) {
    const possible = this.fits(code, square) && this.affords(code);
    if (possible) this.chosen.set(square, code);
    return possible;
  }

  take(square) {
    this.chosen.delete(square);
  }

  // Moves a chosen piece; returns whether that was possible.
  move(from, to) {
    const code = this.chosen.get(from);
    if (!this.fits(code, to)) return false;
    this.chosen.delete(from);
    this.chosen.set(to, code);
    return true;
  }

  // Why the army cannot be submitted yet; empty when it can.
  problem() {
    const {first, least} = this.facts;
    if (!this.codes().includes(first))
      return `Place the ${this.kinds.get(first).title}: it is free, and every army has one.`;
    const missing = least - this.spent();
    return missing > 0 ? `Spend at least ${least}: ${missing} more.` : "";
  }

  // The moves that set up the army, in the order required by the rules.
  moves() {
    const {first, done} = this.facts;
    const placements = [...this.chosen].sort(([, one], [, other]) => (other === first) - (one === first));
    return [...placements.map(([square, code]) => `${code}@${square}`), done];
  }
}
