// Dragging with the mouse: another way to press the square where a move begins and then one of its targets. Fingers
// scroll the page and tap.

const TREMBLE = 6; // pixels that a pressed mouse may move before it drags

export function draggable(board) {
  const {frame} = board;
  let held = null; // {name, x, y, column}: the square pressed, and its pieces once they are dragged

  frame.addEventListener("pointerdown", (event) => {
    const name = event.target.closest(".square")?.dataset.square;
    if (event.pointerType === "touch" || event.button !== 0 || name === undefined || !Object.hasOwn(board.hints, name)) return;
    held = {name, x: event.clientX, y: event.clientY, column: null};
  });

  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held.x;
    const y = event.clientY - held.y;
    if (!held.column) {
      if (Math.hypot(x, y) < TREMBLE) return;
      held.column = frame.querySelector(`.column[data-square="${CSS.escape(held.name)}"]`);
      if (!held.column || !Object.hasOwn(board.hints, held.name)) return release();
      held.column.parentNode.append(held.column);
      board.begin(held.name);
    }
    const scale = frame.querySelector("svg").getScreenCTM().a;
    held.column.setAttribute("transform", `translate(${x / scale} ${y / scale})`);
  });

  window.addEventListener("pointerup", (event) => {
    if (!held?.column) return release();
    release();
    const square = document.elementFromPoint(event.clientX, event.clientY)?.closest(".square");
    if (square && frame.contains(square) && board.targets().has(square.dataset.square)) board.press(square);
    else board.clear();
  });

  window.addEventListener("pointercancel", () => {
    if (held?.column) board.clear();
    release();
  });

  function release() {
    held?.column?.removeAttribute("transform");
    held = null;
  }
}
