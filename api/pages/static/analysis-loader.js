// The analysis board, whose script is loaded when it is opened for the first time: most visits never open it.

export class AnalysisLoader {
  // `options` are those of the analysis board.
  constructor(options) {
    this.options = options;
    this.analysis = null;
    this.opening = null; // settles when what is being opened is open: what is typed meanwhile waits for it
  }

  get active() {
    return Boolean(this.analysis?.active);
  }

  async open(...what) {
    const {AnalysisBoard} = await import("./analysis-board.js");
    this.analysis ??= new AnalysisBoard(this.options);
    await this.analysis.open(...what);
  }
}

// What the analysis board does and knows once it is open.
for (const name of ["add", "close", "goOn", "show", "step"]) {
  AnalysisLoader.prototype[name] = function forward(...what) {
    return this.analysis[name](...what);
  };
}
for (const name of ["ply", "sheet", "tree"])
  Object.defineProperty(AnalysisLoader.prototype, name, {
    get() {
      return this.analysis[name];
    },
  });
