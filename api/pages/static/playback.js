// Replays the moves, automatically at a speed stored on the device, or by a slider. It never starts by itself.

const SPEED = "rookery-replay-speed"; // moves per second

const at = (id) => document.getElementById(id);

export class Playback {
  // `steps` shows plies, `match` has shown() and plies().
  constructor({page, steps, match}) {
    Object.assign(this, {steps, match});
    this.playing = false;
    this.timer = null;
    const saved = stored();
    if (saved && at("speed").querySelector(`option[value="${CSS.escape(saved)}"]`)) at("speed").value = saved;
    at("play").addEventListener("click", () => this.toggle());
    at("speed").addEventListener("change", () => keep(at("speed").value));
    at("scrub").addEventListener("input", () => {
      this.stop();
      if (!steps.analysis.active) steps.show(Number(at("scrub").value));
    });
    at("board").addEventListener("click", () => this.stop());
    page.addEventListener("click", (event) => {
      const from = event.target.closest("[data-replay]")?.dataset.replay;
      if (from !== undefined) this.play(Number(from), true);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play(this.match.shown() === this.match.plies() ? 0 : this.match.shown());
  }

  // Plays the moves from this ply to the last; `quick`, those since the viewer's last move, without the slider.
  async play(from, quick = false) {
    if (this.steps.analysis.active) return this.match.say("Save or close the analysis first.");
    this.stop();
    if (!quick) at("player").hidden = false;
    this.playing = true;
    this.label();
    const run = {};
    this.run = run;
    if (from !== this.match.shown()) await this.steps.show(from);
    this.wait(run);
  }

  wait(run) {
    if (!this.playing || run !== this.run) return;
    if (this.match.shown() >= this.match.plies()) return this.stop();
    this.timer = setTimeout(async () => {
      await this.steps.show(this.match.shown() + 1);
      this.wait(run);
    }, 1000 / at("speed").value);
  }

  stop() {
    clearTimeout(this.timer);
    this.run = null;
    this.playing = false;
    this.label();
  }

  label() {
    const words = this.playing ? "Pause" : "Replay the moves";
    at("play").classList.toggle("playing", this.playing);
    at("play").setAttribute("aria-label", words);
    at("play").title = `${words} (Space)`;
  }

  // Updates slider and button to the ply shown and the number of plies.
  update() {
    const {shown, plies} = this.match;
    at("scrub").max = plies();
    at("scrub").value = shown();
    at("play").disabled = plies() === 0;
  }

  key(event) {
    // A click may have moved the focus to the main part of the page.
    if (event.key !== " " || !event.target.matches("body, main") || event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (document.querySelector("dialog[open]") || at("play").disabled) return;
    event.preventDefault();
    this.toggle();
  }
}

function stored() {
  try {
    return localStorage.getItem(SPEED);
  } catch {
    return null; // storage is disabled
  }
}

function keep(speed) {
  try {
    localStorage.setItem(SPEED, speed);
  } catch {
    // Storage is disabled: the speed holds for this page only.
  }
}
