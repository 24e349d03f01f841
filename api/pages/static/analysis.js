// Explores a match on the analysis board, from the position shown. A seated player can save the tree for themselves.

import {call} from "./api.js";
import {Tree} from "./move-tree.js";

const MAX_PLIES_BETWEEN = 60; // moves between the root of a saved tree and the position shown
const HELP = "Try out moves for all sides; nothing is played.";
const NEW = " Your saved tree does not lead here: saving replaces it.";

// Opens the analysis board after `ply()` plies, in the line that `address` names, or that of a player who published
// one; resolves once it is open or the failure has been reported.
export async function explore({analysis, api, seated, ply, address, say}) {
  if (analysis.changed) return say("Save or close the analysis first.");
  try {
    const place = new URLSearchParams(address ? new URL(address).search : "");
    if (place.has("exploration")) return await openPublished({analysis, api, author: place.get("exploration")});
    const here = Number(place.get("ply") ?? ply());
    const {tree, begins, replaces} = seated
      ? await loadExploration(api, here)
      : {tree: new Tree(), begins: here, replaces: false};
    const save =
      seated &&
      (async (changed) => {
        await call("PUT", `${api}/exploration`, {ply: analysis.ply, tree: changed.toJSON()});
        say("Saved. Only you can see it.");
      });
    for (const move of (place.get("line") ?? "").split(" ").filter(Boolean)) tree.add({move});
    const help = `${HELP}${seated ? " Only you can see what you save." : ""}${replaces ? NEW : ""}`;
    await analysis.open({title: "Explore", help, seat: null, words: () => "", save}, tree, begins);
    if (document.getElementById("standing").dataset.status === "finished")
      (await import("./evaluation.js")).offerEvaluation(analysis, api);
  } catch (problem) {
    say(problem.message, true);
  }
}

// Opens the exploration that a player has published about a match; nothing of it is saved.
async function openPublished({analysis, api, author}) {
  const {author: by, comment, tree, ply} = await call("GET", `${api}/explorations/${author}`);
  const sheet = {title: `Exploration by ${by.name}`, help: comment, seat: null, words: () => ""};
  await analysis.open(sheet, new Tree(tree), ply);
  (await import("./evaluation.js")).offerEvaluation(analysis, api);
}

// Loads the saved tree of the match, extended so that it contains and shows the position after `here` plies.
async function loadExploration(api, here) {
  const [{moves}, saved] = await Promise.all([call("GET", api), call("GET", `${api}/exploration`)]);
  const fresh = {tree: new Tree(), begins: here, replaces: saved.ply !== null};
  if (saved.ply === null || saved.ply > moves.length || Math.abs(saved.ply - here) > MAX_PLIES_BETWEEN) return fresh;
  const {position} = await call("POST", `${api}/positions`, {ply: saved.ply, line: []});
  if (position !== saved.position) return fresh;
  const begins = Math.min(saved.ply, here);
  const way = moves.slice(begins, saved.ply);
  const tree = new Tree(way.reduceRight((next, move) => [{move, next}], saved.tree));
  for (const move of moves.slice(begins, here)) tree.add({move});
  return {tree, begins, replaces: false};
}
