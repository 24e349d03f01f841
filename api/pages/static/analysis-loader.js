// Loads the analysis board when it is first opened: most visits never open it.

export class AnalysisLoader {
  // `options` are passed on to AnalysisBoard.
  constructor(options) {
    this.options = options;
    this.analysis = null;
    this.opening = null; // settles once the board is open; moves typed meanwhile wait for it
  }

  get active() {
    return Boolean(this.analysis?.active);
  }

  get changed() {
    return Boolean(this.analysis?.changed);
  }

  async open(...what) {
    const {AnalysisBoard} = await import("./analysis-board.js");
    this.analysis ??= new AnalysisBoard(this.options);
    await this.analysis.open(...what);
  }
}

// Members of the analysis board that are used once it is open.
for (const name of ["add", "close", "goOn", "picture", "show", "step"]) {
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
