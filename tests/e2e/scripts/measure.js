own => {
  scrollTo(0, 0);
  const box = (element) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const cell = (square) => square.querySelector("rect");
  const squares = [...document.querySelectorAll("#board .square")];
  const cells = squares.map(cell);
  return {
    width: document.documentElement.scrollWidth,
    cell: Math.min(...cells.map((cell) => cell.getBoundingClientRect().width)),
    board: cells.map(box),
    own: squares.filter((square) => own.includes(square.dataset.square)).map(cell).map(box),
    steps: [...document.querySelectorAll(".board-tools button:not([hidden])")].map(box),
  };
}
