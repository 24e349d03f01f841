// The bench, whose script is loaded when it is opened for the first time: most visits never open it.

export class LazyBench {
  // `options` are those of the bench.
  constructor(options) {
    this.options = options;
    this.bench = null;
    this.opening = null; // settles when what is being opened is open: what is typed meanwhile waits for it
  }

  get active() {
    return Boolean(this.bench?.active);
  }

  async open(...what) {
    const {Bench} = await import("./bench.js");
    this.bench ??= new Bench(this.options);
    await this.bench.open(...what);
  }
}

// What the bench does and knows once it is open.
for (const name of ["add", "close", "goOn", "show", "step"]) {
  LazyBench.prototype[name] = function forward(...what) {
    return this.bench[name](...what);
  };
}
for (const name of ["ply", "sheet", "tree"]) Object.defineProperty(LazyBench.prototype, name, {get() { return this.bench[name]; }});
