// Exploring: trying moves out for all sides on the analysis board, from where the match was looked at. Who has a seat can keep
// the tree, for no other eyes.

import {call} from "./api.js";
import {Tree} from "./move-tree.js";

const LONGEST_WAY = 60; // moves between the root of a kept tree and the position looked at
const HELP = "Try moves out for all sides; nothing is played.";
const NEW = " What you kept before does not lead here: it is replaced when you save.";

// Opens the analysis board after `ply()` plies; resolves when it is open, or when it was said why it is not.
export async function explore({analysis, api, seated, ply, say}) {
  try {
    const here = ply();
    const {tree, begins, replaces} = seated ? await kept(api, here) : {tree: new Tree(), begins: here, replaces: false};
    const save =
      seated &&
      (async (changed) => {
        await call("PUT", `${api}/exploration`, {ply: analysis.ply, tree: changed.toJSON()});
        say("Kept. Only you can see it.");
      });
    const help = `${HELP}${seated ? " What you save only you can see." : ""}${replaces ? NEW : ""}`;
    await analysis.open({title: "Explore", help, seat: null, words: () => "", save}, tree, begins);
  } catch (problem) {
    say(problem.message, true);
  }
}

// The tree kept for the match, with the way to the position after `here` plies in it and gone.
async function kept(api, here) {
  const [{moves}, found] = await Promise.all([call("GET", api), call("GET", `${api}/exploration`)]);
  const anew = {tree: new Tree(), begins: here, replaces: found.ply !== null};
  if (found.ply === null || found.ply > moves.length || Math.abs(found.ply - here) > LONGEST_WAY) return anew;
  const {position} = await call("POST", `${api}/positions`, {ply: found.ply, line: []});
  if (position !== found.position) return anew;
  const begins = Math.min(found.ply, here);
  const way = moves.slice(begins, found.ply);
  const tree = new Tree(way.reduceRight((next, move) => [{move, next}], found.tree));
  for (const move of moves.slice(begins, here)) tree.add({move});
  return {tree, begins, replaces: false};
}
