// Moves and squares that are named in the chat lead to the board of the match page.

const NAMES = /(?<![\w@-])((?:move )?\+?[a-z0-9][\w+:>*-]*)/i;

// Makes moves and squares of a message links to the board.
export function link(words) {
  words.replaceChildren(...words.textContent.split(NAMES).map(linked));
}

// A piece of a message: a move of the match as a link to its board, a square as a button that points at it, or text.
function linked(text) {
  const entries = [...document.querySelectorAll("#moves [data-ply]")];
  const [, number] = /^move (\d+)$/i.exec(text) ?? [];
  const ply = number ?? entries.findLast((entry) => entry.firstElementChild.textContent === text)?.dataset.ply;
  if (ply && entries.some((entry) => entry.dataset.ply === ply)) {
    const link = document.createElement("a");
    Object.assign(link, {href: `?ply=${ply}`, textContent: text}).dataset.ply = ply;
    return link;
  }
  const square = /^[a-o]{1,2}\d{1,2}$/.test(text) && document.querySelector(`#board .square[data-square="${text}"]`);
  if (!square) return text;
  const button = document.createElement("button");
  Object.assign(button, {type: "button", className: "plain", textContent: text});
  button.setAttribute("aria-label", `Show ${text} on the board`);
  button.addEventListener("click", () => document.querySelector(`#board .square[data-square="${text}"]`)?.focus());
  return button;
}
