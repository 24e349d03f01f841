// Shows the column on a square in words, from top to bottom its pieces enlarged, and the notes on the square.

const SVG = "http://www.w3.org/2000/svg";

export function inspector(section, frame) {
  const title = section.querySelector("h2");
  const words = section.querySelector("p");
  const list = section.querySelector("ol");
  const notes = section.querySelector("dl");
  const invitation = words.textContent;

  return function inspect(square) {
    list.replaceChildren();
    notes.replaceChildren();
    if (!square) {
      title.textContent = "Square";
      words.textContent = invitation;
      return;
    }
    const name = square.dataset.square;
    title.textContent = `Square ${name}`;
    words.textContent = square.getAttribute("aria-label");
    const column = frame.querySelector(`.column[data-square="${CSS.escape(name)}"]`);
    const pieces = column ? [...column.querySelectorAll("use")].reverse() : [];
    list.append(...pieces.map(row));
    for (const note of square.querySelectorAll("desc")) notes.append(element("dt", note.dataset.title), element("dd", note.textContent));
  };
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function row(piece) {
  const item = document.createElement("li");
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "-.48 -.42 .96 .88");
  picture.setAttribute("aria-hidden", "true");
  const face = document.createElementNS(SVG, "use");
  face.setAttribute("href", piece.getAttribute("href"));
  picture.append(face);
  item.append(picture, piece.dataset.title);
  return item;
}
