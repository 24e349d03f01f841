// Dragging with the mouse, as another way to press the first square of a move and then one of its targets. Touch scrolls
// and taps.

export const MIN_DRAG_PX = 6; // the mouse has to move this far before a drag begins

export function enableDragging(board) {
  const {frame} = board;
  let held = null; // {name, x, y, column, home}: the pressed square and, once dragged, its pieces and their parent

  frame.addEventListener("pointerdown", (event) => {
    const name = event.target.closest(".square")?.dataset.square;
    if (event.pointerType === "touch" || event.button !== 0 || name === undefined || !Object.hasOwn(board.hints, name))
      return;
    held = {name, x: event.clientX, y: event.clientY, column: null};
  });

  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held.x;
    const y = event.clientY - held.y;
    if (!held.column) {
      if (Math.hypot(x, y) < MIN_DRAG_PX) return;
      held.column = frame.querySelector(`.column[data-square="${CSS.escape(held.name)}"]`);
      if (!held.column || !Object.hasOwn(board.hints, held.name)) return release();
      lift();
      board.begin(held.name);
    }
    const scale = held.column.parentNode.getScreenCTM().a;
    held.column.setAttribute("transform", `translate(${x / scale} ${y / scale})`);
  });

  window.addEventListener("pointerup", (event) => {
    if (!held?.column) return release();
    // Until the piece is released, no text lies above the squares.
    const square = document.elementFromPoint(event.clientX, event.clientY)?.closest(".square");
    release();
    if (square && frame.contains(square) && board.targets().has(square.dataset.square)) {
      board.dropped = true;
      board.press(square);
    } else board.clear();
  });

  window.addEventListener("pointercancel", () => {
    if (held?.column) board.clear();
    release();
  });

  // Moves the pieces above all parts of the board.
  function lift() {
    const part = held.column.closest(".part");
    held.home = held.column.parentNode;
    const above = part.cloneNode(false);
    above.classList.add("lifted");
    above.append(held.column);
    part.parentNode.append(above);
  }

  function release() {
    if (held?.home) {
      held.column.parentNode.remove();
      held.column.removeAttribute("transform");
      held.home.append(held.column);
    }
    held = null;
  }
}
