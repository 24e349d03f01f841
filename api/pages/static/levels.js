// A board of levels: the file of the touched square on all levels, and the levels stacked.

// The squares above and below a square have its two letters.
const fileOf = (square) => square.slice(0, 2);

export function bindLevels(board, button) {
  const {frame} = board;

  function light(square) {
    const file = square && fileOf(square.dataset.square);
    for (const [name, element] of board.squares) element.classList.toggle("same-file", fileOf(name) === file);
  }

  for (const kind of ["pointerover", "focusin", "click"])
    frame.addEventListener(kind, (event) => light(event.target.closest(".square")));
  frame.addEventListener("pointerleave", () => light(board.focused()));
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(frame.classList.toggle("stacked")));
  });
}
