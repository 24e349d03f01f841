// Where squares are on the screen. Style sheets may arrange the parts of a board, so positions are measured.

// Returns the middle of a square in the coordinates that all parts of its board share.
export function place(square) {
  const part = square.closest(".part");
  const matrix = part.parentNode.getScreenCTM().inverse().multiply(part.getScreenCTM());
  return new DOMPoint(Number(square.dataset.x), Number(square.dataset.y)).matrixTransform(matrix);
}

// Scrolls until an overlaid panel covers nothing of the board, and the board is in view; of a board too tall, the
// selection on it or the last move.
export function uncover(frame, panel) {
  const above = panel.getBoundingClientRect();
  const box = frame.getBoundingClientRect();
  const chosen = frame.querySelectorAll(":is(.is-selected, .is-step, .is-target) rect");
  const shown = box.height <= above.top ? [frame] : chosen.length ? [...chosen] : [...frame.querySelectorAll(".mark")];
  const boxes = (shown.length ? shown : [frame]).map((part) => part.getBoundingClientRect());
  const top = Math.min(...boxes.map((part) => part.top));
  const bottom = Math.max(...boxes.map((part) => part.bottom));
  if (above.left < box.right && above.top < bottom) scrollBy(0, bottom - above.top);
  else if (top < 0) scrollBy(0, top);
}
