// The conditional lines of the page's reader: shown as a tree, laid down on the analysis board, kept by the server.

import {call} from "./api.js";
import {conditions, leftOf, Tree, write} from "./move-tree.js";

const HELP = "Play out what the other side may do and what you then answer. Nothing is played until it happens.";

const section = () => document.getElementById("lines");

// Opens and keeps lines. `analysis` is the analysis board, `match` says version, plies and moves of the match as it stands.
export function layLines({page, analysis, api, match, refresh, say}) {
  const seat = Number(page.dataset.seat);
  const words = conditions(seat, JSON.parse(page.dataset.names));

  function kept() {
    return new Tree(JSON.parse(section().querySelector("[data-tree]").dataset.tree));
  }

  function render() {
    const place = section()?.querySelector("[data-tree]");
    if (place) write(place, kept(), words);
  }

  async function keep(method, body) {
    await call(method, `${api}/lines`, body, method === "PUT" ? {"If-Match": `"${match.version()}"`} : {});
    await refresh();
  }

  function begin() {
    const tree = kept();
    const dead = section().dataset.status === "dead";
    const left = dead ? new Tree() : tree.from(leftOf(tree));
    const sheet = {
      title: "Lay down lines",
      help: HELP,
      seat,
      words,
      follows: true,
      async save(changed) {
        await call("PUT", `${api}/lines`, {lines: changed.toJSON()}, {"If-Match": `"${match.version()}"`});
        analysis.close();
        await refresh();
        say("Your lines are laid down. Only you can see them.");
      },
    };
    return analysis.open(sheet, left, match.plies());
  }

  page.addEventListener("click", async (event) => {
    const wanted = event.target.closest("[data-lines]")?.dataset.lines;
    try {
      if (wanted === "begin") await begin();
      if (wanted === "drop") {
        await keep("DELETE");
        say("Your lines are taken away.");
      }
    } catch (problem) {
      say(problem.message, true);
    }
  });

  page.addEventListener("change", async (event) => {
    if (event.target.id !== "forced") return;
    const forced = event.target.checked;
    try {
      await keep("PUT", {forced});
      say(forced ? "Your only legal move will be played for you." : "Every move is yours to make again.");
    } catch (problem) {
      event.target.checked = !forced;
      say(problem.message, true);
    }
  });

  render();
  return render;
}

// When the match moves on while lines are entered: they go on from what was played if it is among them.
export async function followed(analysis, api, plies) {
  const {moves} = await call("GET", api);
  let node = analysis.tree.root;
  for (const move of moves.slice(analysis.ply)) node = node?.next.find((each) => each.move === move);
  if (!node || moves.length < analysis.ply) return null;
  return plies === moves.length ? analysis.tree.from(node) : null;
}
