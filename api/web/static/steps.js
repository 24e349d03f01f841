// Stepping through the moves: by the buttons below the board, by the list of moves and by keys.

const KEYS = {",": "previous", ".": "next", ArrowLeft: "previous", ArrowUp: "previous", ArrowRight: "next", ArrowDown: "next"};

// `shown()` and `plies()` count plies; `show(ply)` shows the position after that many. On the bench one steps along a line.
export function takeSteps({page, bench, shown, plies, show, say}) {
  function goTo(ply) {
    if (bench.active) return say("Save your lines or close them first.");
    show(Math.max(0, Math.min(plies(), ply)));
  }

  function step(kind) {
    if (bench.active) return bench.step(kind);
    goTo({first: 0, previous: shown() - 1, next: shown() + 1, last: plies()}[kind]);
  }

  page.addEventListener("click", (event) => {
    const link = event.target.closest("[data-ply], [data-step]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.ply) goTo(Number(link.dataset.ply));
    else step(link.dataset.step);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) return;
    if (!(event.key in KEYS) || !(event.key.length === 1 || event.target.closest("#moves"))) return;
    event.preventDefault();
    step(KEYS[event.key]);
  });
}
