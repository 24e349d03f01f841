// The position strings of games, read for drawing only: the pieces by square, the side to move. Each game declares how
// its strings are written (domain/presentation.py, PositionFormat). A string that cannot be read is refused with an
// Error; whether a position is possible is not checked.

// Returns {columns, links, words}: the pieces on each square, bottom first, by their letters ("!" after those of a
// frozen piece), the pairs of squares whose pieces belong together, and who is to move, in words. The squares of the
// table are in the order of the board.
export function readPosition({squares, format}, text) {
  const [board, ...fields] = text.split(" ");
  const rest = fields.join(" ");
  if (!new RegExp(`^(?:${format.rest})$`).test(rest)) throw new Error("its fields are not those of this game");
  const frozen = fields[format.frozen - 1] ?? "";
  const links = fields[format.links - 1] ?? "-";
  return {
    columns: columnsOf(board, Object.keys(squares), format, frozen),
    links: links === "-" ? [] : links.split(";").map((pair) => pair.split(">")),
    words: format.words
      .map((chain) => chain.reduce((words, [from, to]) => words.replace(new RegExp(from, "g"), to), rest))
      .filter((words) => words)
      .join("; "),
  };
}

function columnsOf(board, squares, {rows, separators, item, piece, topmost_first}, frozen) {
  const written = board.split(new RegExp(separators));
  if (written.length !== rows.length) throw new Error(`the board of this game has ${rows.length} ranks`);
  const columns = {};
  written.forEach((row, index) => {
    const places = squares.splice(0, rows[index]);
    const items = row.match(new RegExp(item, "g")) ?? [];
    if (items.join("") !== row) throw new Error("a rank has a sign that this game does not have");
    for (const item of items) {
      const run = Number.parseInt(item, 10);
      const emptied = places.splice(0, run || 1);
      if (emptied.length !== (run || 1)) throw new Error("a rank is too long");
      if (run) continue;
      const pieces = item.match(new RegExp(piece, "g")).map((name) => (frozen.includes(name[0]) ? `${name}!` : name));
      columns[emptied[0]] = topmost_first ? pieces.reverse() : pieces;
    }
    if (places.length) throw new Error("a rank has another number of squares");
  });
  return columns;
}
