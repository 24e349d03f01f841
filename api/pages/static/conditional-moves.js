// The viewer's conditional moves: shown as a tree, entered on the analysis board, stored by the server.

import {call, sendSigned} from "./api.js";
import {conditions, playedNode, Tree, write} from "./move-tree.js";

const HELP = "Play out what the other side may do and how you answer. Nothing is played until it happens.";

const section = () => document.getElementById("lines");

// Shows, edits and stores conditional moves. `analysis` is the analysis board, `match` has version(), subject() and plies().
export function bindConditionalMoves({page, analysis, api, match, refresh, say}) {
  const seat = Number(page.dataset.seat);
  const words = conditions(seat, JSON.parse(page.dataset.names));

  function storedTree() {
    return new Tree(JSON.parse(section().querySelector("[data-tree]").dataset.tree));
  }

  function render() {
    const place = section()?.querySelector("[data-tree]");
    if (place) write(place, storedTree(), words);
  }

  async function store(method, body) {
    await call(method, `${api}/lines`, body, method === "PUT" ? {"If-Match": `"${match.version()}"`} : {});
    await refresh();
  }

  function begin() {
    const tree = storedTree();
    const dead = section().dataset.status === "dead";
    const left = dead ? new Tree() : tree.from(playedNode(tree));
    const sheet = {
      title: "Conditional moves",
      help: HELP,
      seat,
      words,
      follows: true,
      async save(changed) {
        await sendSigned(match.subject(), async (signer) =>
          call("PUT", `${api}/lines`, signer ? await signer.lines(changed.root.next) : {lines: changed.toJSON()}, {
            "If-Match": `"${match.version()}"`,
          }),
        );
        analysis.close();
        await refresh();
        say("Your conditional moves are saved. Only you can see them.");
      },
    };
    return analysis.open(sheet, left, match.plies());
  }

  // Runs a request and reports its failure.
  async function tell(request) {
    try {
      await request();
    } catch (problem) {
      say(problem.message, true);
    }
  }

  return {
    render,
    begin: () => tell(begin),
    drop: () =>
      tell(async () => {
        await store("DELETE");
        say("Your conditional moves are removed.");
      }),
    async playForced(box) {
      const forced = box.checked;
      try {
        await store("PUT", {forced});
        say(forced ? "Your only legal move will be played for you." : "Every move is yours to make again.");
      } catch (problem) {
        box.checked = !forced;
        say(problem.message, true);
      }
    },
  };
}

// Returns the rest of the entered lines after the match has moved on, null if the moves played are not among them.
export async function findRemaining(analysis, api, plies) {
  const {moves} = await call("GET", api);
  let node = analysis.tree.root;
  for (const move of moves.slice(analysis.ply)) node = node?.next.find((child) => child.move === move);
  if (!node || moves.length < analysis.ply) return null;
  return plies === moves.length ? analysis.tree.from(node) : null;
}
