// The position strings of all games (rules pages, "Position notation"), read for drawing only: what stands where, who is
// to move. A string that cannot be read is refused with an Error; whether a position is possible is not checked.

const SEATS = {w: "White", b: "Black", u: "Blue", r: "Red", y: "Yellow", g: "Green"};
const FOURPLAY_SEATS = {r: "Red", b: "Blue", y: "Yellow", g: "Green"};
const FOUR_TOWERS_ROWS = [
  "cde",
  "cdefgh",
  "cdefghijk",
  "bcdefghijk",
  "bcdefghijk",
  "bcdefghij",
  "abcdefghij",
  "abcdefghij",
  "abcdefghi",
  "defghi",
  "ghi",
]; // the files of the ranks 11 to 1

const READERS = {
  bashni: readBashni,
  towers: readTowers,
  "tower-game": readTowerGame,
  fourplay: readFourplay,
  "four-towers": readFourTowers,
};

// Returns {columns, links, words}: the pieces on each square, bottom first, by their letters ("!" after those of a
// frozen piece), the pairs of squares whose pieces belong together, and who is to move, in words. Null for a game that
// is not known here.
export function readPosition(game, text) {
  const read = Object.hasOwn(READERS, game) ? READERS[game] : null;
  return read?.(text) ?? null;
}

function fieldsOf(text, count) {
  const fields = text.split(" ");
  if (fields.length !== count) throw new Error(`a position of this game has ${count} fields`);
  return fields;
}

function ranksOf(board, count, separator = "/") {
  const ranks = board.split(separator);
  if (ranks.length !== count) throw new Error(`the board of this game has ${count} ranks`);
  return ranks;
}

// Fills one row of squares: a number is a run of empty squares, anything else a column.
function fill(columns, squares, tokens, piecesOf) {
  let place = 0;
  for (const token of tokens) {
    if (/^[0-9]+$/.test(token)) place += Number(token);
    else {
      if (place >= squares.length) throw new Error("a rank is too long");
      columns[squares[place]] = piecesOf(token);
      place += 1;
    }
  }
  if (place !== squares.length) throw new Error("a rank has another number of squares");
}

function tokensOf(text, pattern) {
  const tokens = text.match(pattern) ?? [];
  if (tokens.join("") !== text) throw new Error("a rank has a sign that this game does not have");
  return tokens;
}

const named = (files, rank) => Array.from(files, (file) => file + rank);

function toMove(seats, letter) {
  if (!Object.hasOwn(seats, letter)) throw new Error("there is no such seat");
  return `${seats[letter]} to move`;
}

function readBashni(text) {
  const [board, side] = fieldsOf(text, 3);
  const columns = {};
  ranksOf(board, 8).forEach((rank, index) => {
    const tokens = tokensOf(rank, /[1-8]|[wWbB]|\([wWbB]{2,}\)/g);
    fill(columns, named("abcdefgh", 8 - index), tokens, (token) => [...token.replace(/[()]/g, "")].reverse());
  });
  return {columns, links: [], words: toMove(SEATS, side)};
}

function readTowers(text) {
  const [board, , side] = fieldsOf(text, 4);
  const columns = {};
  ranksOf(board, 7).forEach((rank, index) => {
    const tokens = rank.split(",");
    if (!tokens.every((token) => /^(?:[1-7]|[wurbg]{1,5})$/.test(token))) throw new Error("a rank cannot be read");
    fill(columns, named("abcdefg", 7 - index), tokens, (token) => [...token]);
  });
  return {columns, links: [], words: toMove(SEATS, side)};
}

function readTowerGame(text) {
  const [board, side] = fieldsOf(text, 5);
  const columns = {};
  ranksOf(board, 8, "|").forEach((rank, index) => {
    ranksOf(rank, 5).forEach((row, place) => {
      const squares = Array.from("abcde", (file) => `${file}${"edcba"[place]}${8 - index}`);
      fill(columns, squares, tokensOf(row, /[1-5]|[KRBMNCJFP]/gi), (token) => [token]);
    });
  });
  return {columns, links: [], words: toMove(SEATS, side)};
}

function readFourplay(text) {
  const [board, side, phase, out, dogs] = fieldsOf(text, 6);
  const columns = {};
  const frozen = (piece) => (out.includes(piece[0]) ? `${piece}!` : piece);
  ranksOf(board, 15).forEach((row, index) => {
    const tokens = tokensOf(row, /[0-9]+|\*|[rbyg](?:VM|HM|Dg|Mu|[KAQGRB,])/g);
    fill(columns, named("abcdefghijklmno", 15 - index), tokens, (token) => [frozen(token)]);
  });
  const links = dogs === "-" ? [] : dogs.split(";").map((pair) => pair.split(">"));
  const words = toMove(FOURPLAY_SEATS, side);
  return {columns, links, words: phase === "setup" ? words.replace("to move", "sets up") : words};
}

function readFourTowers(text) {
  const [board, side, , memory, returning] = fieldsOf(text, 7);
  const columns = {};
  ranksOf(board, 11).forEach((row, index) => {
    const tokens = tokensOf(row, /[0-9]+|[RNBQMCWKDPL]/gi);
    fill(columns, named(FOUR_TOWERS_ROWS[index], 11 - index), tokens, (token) => [token]);
  });
  const [white, black] = memory.split("/");
  const imitated = (letters) => (letters === "-" ? "nothing" : [...(letters ?? "")].join(", "));
  const words = [`${toMove(SEATS, side)}; dragons imitate ${imitated(white)} (White) and ${imitated(black)} (Black)`];
  if (returning !== "-") words.push(`${returning.replace("@", " may return on ")}`);
  return {columns, links: [], words: words.join("; ")};
}
