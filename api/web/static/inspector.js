// Shows the column on a square in words and, from top to bottom, its pieces enlarged.

const SVG = "http://www.w3.org/2000/svg";

export function inspector(section, frame) {
  const title = section.querySelector("h2");
  const words = section.querySelector("p");
  const list = section.querySelector("ol");
  const invitation = words.textContent;

  return function inspect(square) {
    list.replaceChildren();
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
  };
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
