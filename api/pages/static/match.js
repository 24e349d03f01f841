// The page of a match: puts its parts together and keeps it up to date.
//
// The server renders everything. To show a later version, the page is fetched again and its live parts (data-live) are
// replaced; other plies are shown by steps between boards that the server has drawn (steps.js).

import {bindActions, confirmAct} from "./actions.js";
import {AnalysisLoader} from "./analysis-loader.js";
import {Announcer} from "./announce.js";
import {call, sendSigned} from "./api.js";
import {Board} from "./board.js";
import {chat} from "./chat.js";
import {runClocks} from "./clock.js";
import {ComposerLoader} from "./composer-loader.js";
import {replaceContent} from "./focus.js";
import {explainer, inspector} from "./inspector.js";
import {reportPresence, watch} from "./live.js";
import {MoveEntry} from "./move-entry.js";
import {Playback} from "./playback.js";
import {bindShortcuts} from "./shortcuts.js";
import {uncover} from "./square-geometry.js";
import {Steps} from "./steps.js";

const page = document.getElementById("match");
const at = (id) => document.getElementById(id);
const api = `/api/v1/matches/${page.dataset.match}`;

let turned = page.dataset.turned;
let asked = 0; // numbers the refreshes, so that a late answer never replaces a newer one
let watching = false;
let awaitingRatings = false;
let counted = ""; // the last position for which the number of movable pieces was announced
let legal = null; // the legal moves as the server last sent them
let boardBefore = ""; // the markup of the board when the analysis board was opened

// The last markup from the server. Scripts change some of it on the page, such as running clocks.
const rendered = new Map([...document.querySelectorAll("[data-live]")].map((part) => [part.id, part.innerHTML]));

const standing = () => at("standing").dataset;
const version = () => standing().version; // the version tag, such as 6-3fa9c1d25b0e7c44
const plies = () => Number(standing().plies);
const shown = () => Number(at("board").dataset.shown);
const announcer = new Announcer(at("announcements"));
const say = (text, bad, aside) => announcer.say(text, bad, aside);
function saySignedOut() {
  const href = `/sign-in?next=${encodeURIComponent(location.pathname)}`;
  announcer.say("You were signed out.", true, false, {text: "Sign in", href});
}
const notLoaded = () => say("The server cannot be reached. Load the page again.", true);

const inspect = inspector(at("inspector"), at("board"));
let guide = null; // tells about pieces, loaded when one is first pointed at
let pointed = null;
const board = new Board(at("board"), {
  choose: (move, squares) =>
    composer.active ? composer.add(move) : analysis.active ? tryOut(move) : moveEntry.chooseAndSay(move, squares),
  options: showOptions,
  inspect(square) {
    inspect(square);
    tell(square);
  },
  idle: (square) => whyNot(square),
  say: (text) => say(text, false, true),
});
function tell(piece) {
  pointed = piece;
  if (guide) return guide(piece);
  if (!piece || !at("piece")) return;
  guide = () => {};
  import("./piece-guide.js")
    .then(({pieceGuide}) => pieceGuide(at("piece"), board))
    .then(
      (loaded) => {
        guide = loaded;
        guide(pointed);
      },
      () => {
        guide = null;
      },
    );
}
for (const event of ["pointerover", "focusin"])
  at("draft")?.addEventListener(event, ({target}) => tell(target.closest("[data-face]")));
import("./arrows.js").then(({enableArrows}) => enableArrows(board));
// Only code for the devices at hand is loaded: a mouse, a touch screen.
if (matchMedia("(any-pointer: fine)").matches) import("./drag.js").then(({enableDragging}) => enableDragging(board));
if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
  import("./motion.js").then((motion) => (board.motion = motion));
if (navigator.maxTouchPoints)
  import("./zoom.js").then(({enableZoom}) => enableZoom(board, at("whole-board"), (text) => say(text)));
if (at("stack")) import("./levels.js").then(({bindLevels}) => bindLevels(board, at("stack")));
const composer = new ComposerLoader({
  offers: at("compositions"),
  panel: at("composing"),
  address: api,
  board,
  on: {
    picture: (kind, parts, line) =>
      line
        ? analysis.picture({...line, kind, parts})
        : moveEntry
            .picture([["compose", kind], ...parts.map((part) => ["part", part])])
            .then((answer) => answer.text()),
    choose: (move) => (analysis.active ? tryOut(move) : moveEntry.chooseAndSay(move)),
    leave: () => moveEntry.leave(),
    say,
  },
});

const analysis = new AnalysisLoader({
  panel: at("analysis"),
  board,
  api,
  pictures: `${location.pathname}/board.svg`,
  names: JSON.parse(page.dataset.names),
  page,
  on: {
    turned: () => turned,
    copy,
    opened() {
      const typed = moveEntry.active ? "" : at("typed").value; // may have been typed while the board was loading
      moveEntry.forget();
      at("typed").value = typed;
      if (!page.classList.contains("analysing")) boardBefore = at("board").innerHTML;
      composer.hide();
      page.classList.add("analysing");
      showTyping();
      at("board").scrollIntoView({block: "nearest"}); // the button that opened it may be far below
    },
    closed() {
      board.show(boardBefore);
      page.classList.remove("analysing");
      showTyping();
      say("");
      refresh({ply: null});
    },
    compose(compositions, line) {
      composer.stop();
      composer.offer(compositions, line);
    },
    confirm: confirmAct,
    say,
  },
});
// The subject signed beside an act, if this device signs (signing.js).
const subject = () => ({...page.dataset, version: version()});
const submit = (body, key) =>
  sendSigned(subject(), async (signer) =>
    call(
      "POST",
      `${api}/moves`,
      signer ? {...body, signed: await signer.signed("move-submitted", body.moves ?? [body.move])} : body,
      {"Idempotency-Key": key, "If-Match": `"${version()}"`},
    ),
  );
const match = {
  api,
  version,
  plies,
  shown,
  standing,
  turned: () => turned,
  submit,
  refresh: (to) => refresh(to),
  say,
  saySignedOut,
  isKept: () => Boolean(localStorage["kept-for"]),
};
const moveEntry = new MoveEntry({match, board, composer, analysis});
const whyNot = explainer({
  api,
  version,
  applies: () =>
    "seat" in page.dataset &&
    standing().status === "playing" &&
    shown() === plies() &&
    !(moveEntry.active || composer.active || analysis.active),
  say,
});
const draftPanel = at("draft")
  ? new (await import("./draft.js")).DraftPanel({panel: at("draft"), board, match, analysis, moveEntry})
  : null;
// Rarely used parts are loaded on demand.
let binding = null;
const conditionalMoves = () => {
  const options = {page, analysis, api, match: {version, subject, plies}, refresh: () => refresh({ply: null}), say};
  binding ??= import("./conditional-moves.js").then((module) => module.bindConditionalMoves(options));
  return binding;
};
page.addEventListener("click", ({target}) => {
  const wanted = target.closest("[data-lines]")?.dataset.lines;
  if (wanted === "begin") analysis.opening = conditionalMoves().then(({begin}) => begin(), notLoaded);
  if (wanted === "drop") conditionalMoves().then(({drop}) => drop(), notLoaded);
});
page.addEventListener("change", ({target}) => {
  if (target.id === "forced") conditionalMoves().then(({playForced}) => playForced(target), notLoaded);
});
function renderLines() {
  const tree = at("lines")?.querySelector("[data-tree]");
  if (tree && (binding || tree.dataset.tree !== "[]")) conditionalMoves().then(({render}) => render(), notLoaded);
}
renderLines();
function explore(address) {
  const options = {analysis, api, seated: "seat" in page.dataset, ply: shown, address, say};
  analysis.opening = import("./analysis.js").then(({explore}) => explore(options), notLoaded);
}
at("explore").addEventListener("click", () => {
  explore();
  if (at("review")) at("review").open = true;
});
at("notes")?.addEventListener(
  "toggle",
  () => import("./notes.js").then(({bindNotes}) => bindNotes(at("notes"), api), notLoaded),
  {once: true},
);
const openLater = ({target}) => {
  if (target.id === "review") import("./review.js").then(({show}) => show(target, explore), notLoaded);
  if (target.id === "why") showReasons(target);
  if (target.id === "share") import("./share.js").then(({show}) => show(target, match, copy), notLoaded);
};
page.addEventListener("toggle", openLater, true);
async function showReasons(part) {
  if (!part.open) return;
  const answer = await fetch(part.dataset.url).catch(() => null);
  part.lastElementChild.textContent = answer?.ok ? await answer.text() : "The server cannot be reached.";
}
const readChat = at("chat") ? chat(at("chat"), api) : () => {};
const restartClocks = runClocks(page, () => refresh());

// Refreshing

async function refresh({ply = shown() === plies() ? null : shown()} = {}) {
  const number = ++asked;
  at("board").setAttribute("aria-busy", "true");
  try {
    const query = new URLSearchParams({...(ply === null ? {} : {ply}), turned, since: standing().mark});
    const answer = await fetch(`${location.pathname}?${query}`, {headers: {Accept: "text/html"}, cache: "no-store"});
    if (answer.status === 404 && ply !== null) return await refresh({ply: null}); // the ply was taken back
    if (answer.status === 404 && "seat" in page.dataset) return saySignedOut(); // strangers do not see a private match
    if (!answer.ok) throw new Error(`The page cannot be brought up to date (status ${answer.status}).`);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== asked) return;
    if ("seat" in page.dataset && !("seat" in fresh.getElementById("match").dataset)) return saySignedOut();
    const before = {...standing(), plies: plies()};
    const after = fresh.getElementById("standing").dataset;
    const moved = before.plies !== Number(after.plies) || before.place !== after.place;
    // Before the parts are replaced, for a chosen move keeps its board.
    if (moved || ((moveEntry.active || composer.active) && !after.mine)) moveEntry.forget();
    if (moved) playback.stop();
    if (moved || after.status !== before.status) sound(before, after, fresh);
    if (after.news) announcer.hide();
    adopt(fresh);
    history.replaceState(null, "", ply === null ? location.pathname : `?ply=${ply}`);
    announcer.hear(after.news);
    const lost = moved && analysis.active && analysis.sheet.follows && !(await followMatch(before.plies));
    if (lost) announcer.hear("The conditional moves you were entering no longer fit.");
    await settle(moved);
  } catch (error) {
    say(
      error instanceof TypeError
        ? "The server cannot be reached. The page shows the match as it stood."
        : error.message,
      true,
    );
  } finally {
    if (number === asked) at("board").removeAttribute("aria-busy");
  }
}

// Plays the sounds of new events where the device asks for it.
function sound({plies, mine, status}, after, fresh) {
  if (!document.documentElement.dataset.sounds) return;
  const moves = [...fresh.querySelectorAll("#moves [data-ply]")].slice(plies).map((link) => link.textContent);
  const ended = status === "playing" && after.status !== status;
  import("./sounds.js").then(({playNews}) => playNews({moves, ended, turn: after.mine && !mine}));
}

function adopt(fresh) {
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    if (part.id === "board") {
      part.dataset.shown = other.dataset.shown;
      const chosen = (moveEntry.active || composer.active) && shown() === plies();
      steps.adopt(other.innerHTML, shown(), analysis.active || chosen);
      continue;
    }
    for (const {name} of [...part.attributes])
      if (name.startsWith("data-") && !other.hasAttribute(name)) part.removeAttribute(name);
    for (const {name, value} of other.attributes) if (name !== "aria-busy") part.setAttribute(name, value);
    const markup = other.innerHTML;
    if (rendered.get(part.id) === markup) continue;
    rendered.set(part.id, markup);
    const moves = part.id === "moves" && part.contains(document.activeElement);
    replaceContent(part, other.childNodes, () => board.home());
    if (moves) (currentMove() || part.querySelector("a"))?.focus({preventScroll: true});
  }
  draftPanel?.settle();
  steps.learn();
  playback.update();
  showTyping();
  renderLines();
  restartClocks();
  scrollToCurrent();
}

function showTyping() {
  const typing = at("type-move");
  typing.hidden = (!standing().mayMove && !analysis.active) || Boolean(draftPanel?.active);
  typing.querySelector("button").textContent = analysis.active ? "Add" : "Preview";
}

// The match moved on from `before` plies while lines were being entered. Resolves to whether they still fit.
async function followMatch(before) {
  const {findRemaining} = await import("./conditional-moves.js");
  const left = plies() > before ? await findRemaining(analysis, api, plies()).catch(() => null) : null;
  if (left) await analysis.goOn(left, plies());
  else analysis.close();
  return Boolean(left);
}

// Loads the legal moves, announces new events, and watches the match while anything can still happen in it.
// Players keep watching after the end.
async function settle(moved = false) {
  const live = ["open", "playing"].includes(standing().status) || "seat" in page.dataset;
  if (live && !watching) {
    watching = true;
    const {match, stream} = page.dataset;
    const rematch = () => !standing().mark.endsWith(".0");
    watch({
      match,
      stream,
      version,
      rematch,
      changed: () => refresh(),
      heard: readChat,
      say: (text) => (at("connection").textContent = text),
    });
  }
  if (!awaitingRatings) awaitRatings();
  if (!(moveEntry.active || composer.active || analysis.active)) await offerMoves();
  // Moves and offers are visible already.
  announcer.tell(counted === standing().place ? "" : board.count(), moved || at("offers").childElementCount > 0);
  if (board.count()) counted = standing().place;
}

async function offerMoves() {
  if (!standing().mine || shown() !== plies() || draftPanel?.active) return offer({}, []);
  try {
    if (legal?.version_tag !== version()) legal = await call("GET", `${api}/legal-moves`);
    if (
      legal.version_tag === version() &&
      shown() === plies() &&
      !moveEntry.active &&
      !composer.active &&
      !analysis.active
    )
      offer(legal.hints, legal.compositions);
  } catch (problem) {
    say(problem.message, true);
  }
}

function offer(hints, compositions) {
  board.offer(hints);
  composer.offer(compositions);
  if (compositions.length && !Object.keys(hints).length) announcer.hear("Only composed moves are left to you.");
}

const currentMove = () => at("moves").querySelector("[aria-current]");

// Shows the current move in the list. The list is a single tab stop; the arrow keys move within it.
function scrollToCurrent() {
  const list = at("moves");
  const current = currentMove();
  for (const link of list.querySelectorAll("a")) link.tabIndex = link === (current || list.querySelector("a")) ? 0 : -1;
  if (!current) list.scrollTop = 0;
  else list.scrollTop += current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
}

// Ratings are computed shortly after a match ends, so poll for them a few times.
function awaitRatings(delay = 1000) {
  awaitingRatings = Boolean(standing().unratedYet) && delay < 20000;
  if (!awaitingRatings) return;
  setTimeout(async () => {
    await refresh();
    awaitRatings(delay * 2);
  }, delay);
}

const tryOut = (move) => analysis.add(move).catch((error) => say(error.message, true));

function showOptions(options) {
  at("options").replaceChildren(
    ...options.map(({text, take}) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", take);
      return button;
    }),
  );
  if (options.length) uncover(at("board"), at("options"));
}

// Actions other than moves

bindActions({
  page,
  api,
  subject,
  mark: () => standing().mark,
  refresh: () => refresh({ply: null}),
  recover: (problem) => moveEntry.recover(problem, ""),
});

page.addEventListener("click", (event) => {
  if (event.target.id === "copy") copy(location.origin + location.pathname);
});

function copy(address) {
  import("./share.js").then(({copyAddress}) => copyAddress(address, say), notLoaded);
}

const steps = new Steps({
  page,
  analysis,
  board,
  match,
  on: {
    leave: () => (moveEntry.active || composer.active) && moveEntry.forget(),
    stepped: () => playback.stop(),
    came() {
      for (const part of ["shown", "past", "moves", "diagram"]) rendered.delete(part);
      scrollToCurrent();
      playback.update();
      settle();
    },
  },
});
const playback = new Playback({page, steps, match});

at("turn").addEventListener("click", () => {
  turned = String((Number(turned) + 1) % Number(page.dataset.turns));
  moveEntry.forget();
  if (analysis.active) analysis.show();
  else refresh();
});

bindShortcuts({
  page,
  board,
  say: (text) => say(text, false, true),
  lastMove: () => standing().lastMove,
  piece: () => guide?.text || "No piece has been pointed at.",
});

const query = new URLSearchParams(location.search);
if (query.has("since")) history.replaceState(null, "", location.pathname);
announcer.hear(standing().news);
scrollToCurrent();
settle().then(() => moveEntry.restore());
if (query.has("line") || query.has("exploration")) explore(location.href);
const {asOf} = document.querySelector("main").dataset;
if (asOf) {
  const at = new Date(asOf).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
  say(`No connection: this is the match as of ${at}. A move is sent when the connection is back.`);
}
if ("seat" in page.dataset) reportPresence(page.dataset.match);
