// The engine's review of a finished match: a graph of the points that each seat could expect, which steps the board, the
// same as a table, and the comments on moves. The keys j and k go from one turning point to the next.

import {call} from "./api.js";

const POLL_MS = 5000;
const WIDTH = 600;
const HEIGHT = 160;
const DASHES = ["", "9 4", "2 3", "12 4 2 4"]; // lines differ without their colours

// Shows the review in `part` of the match page when it is first opened. `explore(address)` opens a line.
export function show(part, explore) {
  const place = part.querySelector("div");
  if (!part.open || place.dataset.asked) return;
  place.dataset.asked = "yes";
  place.addEventListener("click", (event) => {
    const line = event.target.closest("[data-line]");
    if (!line || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    explore(line.href);
  });
  const page = part.closest("[data-match]").dataset;
  const api = `/api/v1/matches/${page.match}`;
  const options = {names: JSON.parse(page.names), board: document.getElementById("board"), go};
  look();

  // Looks again after a failure of the server or the connection: the review goes on without this page.
  function look() {
    call("GET", `${api}/review`).then(display, ({status, message}) => {
      tell(message);
      if (!status || status >= 500) setTimeout(look, POLL_MS);
    });
  }

  function display({state, digest, review}) {
    if (review) return place.replaceChildren(...drawn(review, digest, options));
    if (state === "asked") {
      tell("The engine examines every move. This takes some minutes; you can leave the page meanwhile.");
      setTimeout(look, POLL_MS);
      return;
    }
    const button = made("button", {type: "button", class: "small"}, "Have this match reviewed");
    button.addEventListener("click", () => {
      button.disabled = true;
      call("POST", `${api}/review`, {}).then(display, ({message}) => tell(message));
    });
    place.replaceChildren(button);
  }

  // Follows a link to a ply, which the page steps to.
  function go(ply) {
    const followed = link(ply, "");
    place.append(followed);
    followed.click();
    followed.remove();
  }

  function tell(words) {
    place.replaceChildren(made("p", {role: "status"}, words));
  }
}

function drawn(review, digest, {names, board, go}) {
  const {expected, moves, seats, turning_points: turns} = review;
  const parts = seats.map(({seat, accuracy, counted}) => {
    const of = `${counted} counted move${counted === 1 ? "" : "s"}`;
    const words = accuracy === null ? `too few for an accuracy, ${of}` : `accuracy ${accuracy.toFixed(1)} %, ${of}`;
    return made("li", {}, `${names[seat]}: ${words}`);
  });
  const graph = drawGraph(expected, turns, names);
  graph.addEventListener("click", ({clientX}) => {
    const {left, width} = graph.getBoundingClientRect();
    go(Math.round(((clientX - left) / width) * (expected.length - 1)));
  });
  follow(graph, board, expected.length - 1);
  bindKeys(turns, board, go);
  const said = moves.filter(({words}) => words);
  return [
    made("ul", {class: "plain small"}, ...parts),
    made("p", {class: "small soft"}, "Accuracy compares moves with the engine’s. It never proves how they were found."),
    graph,
    turns.length
      ? made("p", {class: "small"}, "Turning points: ", ...turns.flatMap((ply) => [link(ply, ply), " "]))
      : "",
    said.length
      ? made(
          "ul",
          {class: "small"},
          ...said.map((move) => made("li", {}, link(move.ply, move.ply), ` ${move.words} `, lineOf(move))),
        )
      : "",
    folded("The graph as a table", tabulate(review, names)),
    folded("The review as text", made("pre", {class: "diagram", tabindex: 0}, review.text)),
    made(
      "p",
      {class: "small soft"},
      `Engine ${review.engine}, ${review.nodes} positions for each move. Whoever reviews this match with it gets `,
      made("code", {}, digest),
      ".",
    ),
  ];
}

function drawGraph(expected, turns, names) {
  const most = Math.max(...expected.flat());
  const x = (ply) => (ply * WIDTH) / Math.max(1, expected.length - 1);
  const y = (points) => HEIGHT - (points * HEIGHT) / (most || 1);
  const graph = drawnPart("svg", {viewBox: `0 -4 ${WIDTH} ${HEIGHT + 26}`, role: "img", width: "100%"});
  graph.setAttribute(
    "aria-label",
    "The points that each seat could expect, move by move; the table below has the values",
  );
  graph.append(drawnPart("path", {d: `M0 0V${HEIGHT}H${WIDTH}`, opacity: 0.5}));
  names.forEach((name, seat) => {
    const points = expected.map((all, ply) => `${x(ply).toFixed(1)},${y(all[seat]).toFixed(1)}`).join(" ");
    const dash = DASHES[seat % DASHES.length];
    graph.append(drawnPart("polyline", {points, "stroke-width": 2, "stroke-dasharray": dash}));
    const at = (seat * WIDTH) / names.length;
    graph.append(drawnPart("path", {d: `M${at} ${HEIGHT + 15}h40`, "stroke-width": 2, "stroke-dasharray": dash}));
    const label = drawnPart("text", {
      x: at + 46,
      y: HEIGHT + 21,
      fill: "currentColor",
      stroke: "none",
      "font-size": 18,
    });
    label.textContent = name;
    graph.append(label);
  });
  for (const ply of turns) graph.append(drawnPart("path", {d: `M${x(ply)} 0V${HEIGHT}`, "stroke-dasharray": "1 3"}));
  graph.append(drawnPart("path", {class: "here", "stroke-width": 3, opacity: 0.4}));
  return graph;
}

// Marks in the graph the ply whose board is shown.
function follow(graph, board, plies) {
  const mark = () => {
    const x = (Number(board.dataset.shown) * WIDTH) / Math.max(1, plies);
    graph.querySelector(".here").setAttribute("d", `M${x.toFixed(1)} -4V${HEIGHT}`);
  };
  new MutationObserver(mark).observe(board, {attributeFilter: ["data-shown"]});
  mark();
}

function bindKeys(turns, board, go) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const here = Number(board.dataset.shown);
    const next = {j: turns.find((ply) => ply > here), k: turns.findLast((ply) => ply < here)}[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(next);
  });
}

function tabulate({expected, moves}, names) {
  const head = ["No.", "Move", "Best", "Lost", ...names.map((name) => `${name} expects`)];
  const rows = expected.slice(1).map((points, index) => {
    const {ply, seat, played, best, loss, judged} = moves[index];
    const lost = judged ? loss.toFixed(2) : "forced";
    const better = judged && best !== played ? lineOf(moves[index], best) : "";
    const cells = [`${names[seat]}: ${played}`, better, lost, ...points.map((value) => value.toFixed(2))];
    return made("tr", {}, made("th", {scope: "row"}, link(ply, ply)), ...cells.map((cell) => made("td", {}, cell)));
  });
  const titles = made("tr", {}, ...head.map((title) => made("th", {scope: "col"}, title)));
  return made(
    "div",
    {class: "scroll", tabindex: 0, role: "region", "aria-label": "The graph as a table"},
    made("table", {class: "table small"}, made("thead", {}, titles), made("tbody", {}, ...rows)),
  );
}

function folded(title, content) {
  return made("details", {}, made("summary", {}, title), content);
}

// A link to a ply, which the page follows by stepping the board.
function link(ply, words) {
  return made("a", {href: `?ply=${ply}`, "data-ply": ply}, String(words));
}

// A link that opens the best play before a move on the analysis board.
function lineOf({ply, best_line: best}, words = "See the best play") {
  const place = new URLSearchParams({ply: ply - 1, line: best.join(" ")});
  return made("a", {href: `?${place}`, "data-line": ""}, words);
}

function made(tag, attributes, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

function drawnPart(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  element.setAttribute("fill", "none");
  element.setAttribute("stroke", "currentColor");
  for (const [name, value] of Object.entries(attributes)) if (value !== "") element.setAttribute(name, value);
  return element;
}
