// Loads the composer when moves to compose are first offered: few games have any.

export class ComposerLoader {
  // `options` are passed on to Composer.
  constructor(options) {
    this.options = options;
    this.composer = null;
    this.offered = [[]]; // the last offer: another one may follow while the module is loading
  }

  get active() {
    return Boolean(this.composer?.active);
  }

  async offer(compositions, line) {
    this.offered = [compositions, line];
    if (!this.composer && compositions.length) {
      const {Composer} = await import("./composer.js");
      this.composer ??= new Composer(this.options);
    }
    this.composer?.offer(...this.offered);
  }

  hide() {
    this.offered = [[]];
    this.composer?.hide();
  }

  stop() {
    this.offered = [[]];
    this.composer?.stop();
  }

  add(part) {
    return this.composer.add(part);
  }

  resume() {
    return this.composer.resume();
  }
}
