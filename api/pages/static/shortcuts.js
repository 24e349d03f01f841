// Keyboard shortcuts of the match page: they move the focus, or announce the last move and the clocks.
//
// They work while the board or its controls have the focus, or nothing has; elsewhere keys belong to the browser and to
// screen readers. Only the key that focuses the board works everywhere outside text fields.

const BOARD = "#board, .board-tools, #confirm, #composing, #compositions, #options";

export function bindShortcuts({page, board, say, lastMove, piece}) {
  const at = (id) => document.getElementById(id);

  const keys = {
    n: () => goTo(1),
    N: () => goTo(-1),
    t: typeMove,
    "/": typeMove,
    l: () => say(lastMove()),
    c: () => say(clocks()),
    w: () => say(piece()),
    "?": showKeys,
  };

  function toBoard() {
    board.home();
    say(board.count());
  }

  function goTo(step) {
    const text = board.goOn(step);
    if (text) say(text);
  }

  function typeMove() {
    if (at("type-move").hidden) say("You cannot type a move now.");
    else at("typed").focus();
  }

  function clocks() {
    const sentences = [...page.querySelectorAll("#seats [data-clock]")].map(
      (clock) => `${clock.dataset.clock}: ${clock.textContent.replace(/\s+/g, " ").trim()}.`,
    );
    return sentences.join(" ") || "No clock runs.";
  }

  function showKeys() {
    at("match-menu").open = at("keys").open = true;
    at("keys").querySelector("summary").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target === at("typed") && event.key === "Escape") return board.home();
    if (event.target.closest("input, select, textarea")) return;
    const act =
      event.key === "b"
        ? toBoard
        : event.target === document.body || event.target.closest(BOARD)
          ? keys[event.key]
          : null;
    if (!act) return;
    event.preventDefault();
    act();
  });
}
