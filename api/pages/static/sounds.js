// Short synthesised sounds, loaded where the device asks for them.

const VOLUME = 0.2;
const FADE_S = 0.01;
const TONES = {
  move: [[440, 0.08]],
  capture: [
    [330, 0.07],
    [220, 0.12],
  ],
  turn: [
    [660, 0.1],
    [880, 0.16],
  ],
  end: [
    [523, 0.16],
    [392, 0.16],
    [262, 0.32],
  ],
}; // of each sound: frequencies in Hz, and how many seconds each lasts

let context = null;

// Plays sounds one after the other.
export function play(names) {
  context ??= new AudioContext();
  context.resume(); // browsers hold sounds back until the page is pressed
  let start = context.currentTime;
  for (const [frequency, seconds] of names.flatMap((name) => TONES[name])) {
    tone(frequency, start, start + seconds);
    start += seconds;
  }
}

// Plays the news of a match: the moves in their notation, whether it has ended, whether one's turn has come.
export function playNews({moves, ended, turn}) {
  const sounds = moves.length ? [moves.some((move) => move.includes("x")) ? "capture" : "move"] : [];
  if (ended) sounds.push("end");
  else if (turn) sounds.push("turn");
  play(sounds);
}

function tone(frequency, start, end) {
  const [source, gain] = [context.createOscillator(), context.createGain()];
  source.type = "triangle";
  source.frequency.value = frequency;
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(VOLUME, start + FADE_S);
  gain.gain.linearRampToValueAtTime(0, end);
  source.connect(gain).connect(context.destination);
  source.start(start);
  source.stop(end);
}
