// Where the squares of a board are. A style sheet may arrange the parts of a board, so that their places are measured.

// Returns the middle of a square in the coordinates that all parts of its board share.
export function place(square) {
  const part = square.closest(".part");
  const matrix = part.parentNode.getScreenCTM().inverse().multiply(part.getScreenCTM());
  return new DOMPoint(Number(square.dataset.x), Number(square.dataset.y)).matrixTransform(matrix);
}

// Scrolls so that nothing of the board is below a panel that lies over the page.
export function uncover(frame, panel) {
  const [below, above] = [frame, panel].map((part) => part.getBoundingClientRect());
  if (above.left < below.right && above.top < below.bottom) scrollBy(0, below.bottom - above.top);
}
