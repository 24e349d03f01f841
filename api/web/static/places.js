// Where the squares of a board are. A style sheet may arrange the parts of a board, so that their places are measured.

// Returns the middle of a square in the coordinates that all parts of its board share.
export function place(square) {
  const part = square.closest(".part");
  const matrix = part.parentNode.getScreenCTM().inverse().multiply(part.getScreenCTM());
  return new DOMPoint(Number(square.dataset.x), Number(square.dataset.y)).matrixTransform(matrix);
}
