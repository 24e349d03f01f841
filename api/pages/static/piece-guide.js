// Says below the board the name and the moves of the piece pointed at, and marks where it can go now. It is loaded when
// a piece is first pointed at.

// Resolves to tell(element or null), for a square of `board` or a button with a piece; tell.text is the last text told.
export async function pieceGuide(line, board) {
  const guides = await (await fetch(line.dataset.guides)).json();

  function tell(element) {
    const name = element?.dataset.square;
    const column = name && board.frame.querySelector(`.column[data-square="${CSS.escape(name)}"]`);
    const top = column?.querySelector("use:last-of-type");
    const face = top ? document.getElementById(top.getAttribute("href").slice(1)) : element?.querySelector(".piece");
    if (face) say(face);
    queueMicrotask(() => mark(name)); // pressing a square selects it after it has been told
  }

  function say(face) {
    const kind = face.classList.contains("frozen") ? "frozen" : /kind-(\S+)/.exec(face.getAttribute("class"))[1];
    const guide = guides[kind];
    if (!guide) return;
    const [name, link] = ["b", "a"].map((tag) => document.createElement(tag));
    name.textContent = guide.name;
    Object.assign(link, {href: guide.figure, textContent: "How it moves"});
    line.replaceChildren(name, `: ${guide.moves} `, link);
    tell.text = `${guide.name}: ${guide.moves}`;
  }

  // Marks the squares to which a piece can go, unless one has been selected: then the board shows them.
  function mark(name) {
    const hints = (board.start === null && board.hints[name]) || [];
    const reached = new Set(hints.map(({path}) => path.at(-1)));
    for (const [square, element] of board.squares) element.classList.toggle("is-reached", reached.has(square));
  }

  tell.text = "";
  return tell;
}
