// The page of a match: choosing, confirming and submitting moves, stepping through them, and keeping up with the match.
//
// The server renders everything. To show another ply or a later version, the page is fetched again and its live parts
// (data-live) are replaced; nothing is rendered twice in two languages.

import {sure, takeActs} from "./acts.js";
import {call, newKey} from "./api.js";
import {Bench} from "./bench.js";
import {Board} from "./board.js";
import {chat} from "./chat.js";
import {keepClocks} from "./clock.js";
import {Composer} from "./composer.js";
import {draggable} from "./drag.js";
import {explore} from "./explore.js";
import {inspector} from "./inspector.js";
import {followed, layLines} from "./lines.js";
import {watch} from "./live.js";
import {takeNotes} from "./notes.js";

const page = document.getElementById("match");
const at = (id) => document.getElementById(id);
const api = `/api/v1/matches/${page.dataset.match}`;

const STEPS = {",": "previous", ".": "next", ArrowLeft: "previous", ArrowUp: "previous", ArrowRight: "next", ArrowDown: "next"};

let turned = page.dataset.turned;
let chosen = null; // {move, key}: the move that waits for its confirmation, and the key of its one submission
let asked = 0; // numbers the refreshes, so that a late answer never replaces a later one
let watching = false;
let awaitingRatings = false;
let boardBefore = ""; // the board as it was when the bench was opened
let ours = 0; // the ply of the move submitted last, which the stream reports as well

// What the server rendered last: scripts change what is shown of it, such as clocks that run.
const rendered = new Map([...document.querySelectorAll("[data-live]")].map((part) => [part.id, part.innerHTML]));

const standing = () => at("standing").dataset;
const version = () => standing().version; // the version tag, such as 6-3fa9c1d25b0e7c44
const plies = () => Number(standing().plies);
const shown = () => Number(at("board").dataset.shown);
// Says something; `aside` only to who cannot see it on the board anyway.
const say = (text, bad = false, aside = false) => {
  at("said").className = `said ${bad ? "bad" : ""} ${aside ? "visually-hidden" : ""}`;
  at("said").textContent = text;
};

const board = new Board(at("board"), {
  choose: (move) => (bench.active ? tryOut(move) : composer.active ? composer.add(move) : chooseAndSay(move)),
  options: showOptions,
  inspect: inspector(at("inspector"), at("board")),
  say: (text) => say(text, false, true),
});
draggable(board);
const composer = new Composer({
  offers: at("compositions"),
  panel: at("composing"),
  address: api,
  board,
  on: {picture: (kind, parts) => picture([["compose", kind], ...parts.map((part) => ["part", part])]).then((answer) => answer.text()), choose: chooseAndSay, leave, say},
});

const bench = new Bench({
  panel: at("bench"),
  board,
  api,
  pictures: `${location.pathname}/board.svg`,
  names: JSON.parse(page.dataset.names),
  on: {
    turned: () => turned,
    opened() {
      const typed = chosen ? "" : at("typed").value; // perhaps typed while it was being opened
      forgetChoice();
      at("typed").value = typed;
      boardBefore = at("board").innerHTML;
      composer.hide();
      page.classList.add("benched");
      showTyping();
      at("board").scrollIntoView({block: "nearest"}); // the button that opened it may be far below
    },
    closed() {
      board.show(boardBefore);
      page.classList.remove("benched");
      showTyping();
      say("");
      refresh({ply: null, quietly: true});
    },
    sure,
    say,
  },
});
const renderLines = layLines({page, bench, api, match: {version, plies}, refresh: () => refresh({ply: null, quietly: true}), say});
explore({button: at("explore"), bench, api, seated: "seat" in page.dataset, ply: shown, say});
if (at("notes")) takeNotes(at("notes"), api);
const readChat = at("chat") ? chat(at("chat"), api) : () => {};
const restartClocks = keepClocks(page, () => refresh({quietly: true}));

// Refreshing

async function refresh({ply = shown() === plies() ? null : shown(), quietly = false} = {}) {
  const number = (asked += 1);
  at("board").setAttribute("aria-busy", "true");
  try {
    const query = new URLSearchParams({...(ply === null ? {} : {ply}), turned});
    const answer = await fetch(`${location.pathname}?${query}`, {headers: {Accept: "text/html"}, cache: "no-store"});
    if (answer.status === 404 && ply !== null) return await refresh({ply: null, quietly}); // it has been taken back
    if (!answer.ok) throw new Error(`The page cannot be brought up to date (status ${answer.status}).`);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== asked) return;
    const before = {version: version(), plies: plies(), place: standing().place};
    const after = fresh.getElementById("standing").dataset;
    const moved = before.plies !== Number(after.plies) || before.place !== after.place;
    if (moved) forgetChoice(); // before the parts are replaced: a choice keeps its board
    adopt(fresh);
    history.replaceState(null, "", ply === null ? location.pathname : `?ply=${ply}`);
    const lost = moved && bench.active && bench.sheet.follows && !(await goneOn(before.plies));
    if (before.version !== version() && !quietly) announce(before);
    if (lost) say(`${at("said").textContent} The lines you were entering do not fit any more.`.trim());
    await settle();
  } catch (error) {
    say(error instanceof TypeError ? "The server cannot be reached. The page shows the match as it stood." : error.message, true);
  } finally {
    if (number === asked) at("board").removeAttribute("aria-busy");
  }
}

function adopt(fresh) {
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    if (part.id === "board") {
      part.dataset.shown = other.dataset.shown;
      if (bench.active) continue;
      if (!(chosen || composer.active) || other.dataset.shown !== String(plies())) board.show(other.innerHTML);
      continue;
    }
    for (const {name} of [...part.attributes]) if (name.startsWith("data-") && !other.hasAttribute(name)) part.removeAttribute(name);
    for (const {name, value} of other.attributes) if (name !== "aria-busy") part.setAttribute(name, value);
    const markup = other.innerHTML;
    if (rendered.get(part.id) === markup) continue;
    rendered.set(part.id, markup);
    const focused = part.id === "moves" && part.contains(document.activeElement);
    part.replaceChildren(...other.childNodes);
    if (focused) (currentMove() || part.querySelector("a"))?.focus({preventScroll: true});
  }
  showTyping();
  renderLines();
  restartClocks();
  scrollToCurrent();
}

function showTyping() {
  const typing = at("type-move");
  typing.hidden = !standing().mayMove && !bench.active;
  typing.querySelector("button").textContent = bench.active ? "Add" : "Preview";
}

// The match went on from `plies` while lines were entered; resolves to whether they still fit.
async function goneOn(before) {
  const left = plies() > before ? await followed(bench, api, plies()).catch(() => null) : null;
  if (left) await bench.goOn(left, plies());
  else bench.close();
  return Boolean(left);
}

// Loads what can be played now, and watches as long as something can happen: to its players, also after the end.
async function settle() {
  const live = ["open", "playing"].includes(standing().status) || "seat" in page.dataset;
  if (live && !watching) {
    watching = true;
    const {match, stream} = page.dataset;
    watch({match, stream, version, changed: () => refresh(), heard: readChat, say: (text) => (at("connection").textContent = text)});
  }
  if (!awaitingRatings) awaitRatings();
  if (chosen || composer.active || bench.active) return;
  if (!standing().mine || shown() !== plies()) return offer({}, []);
  try {
    const legal = await call("GET", `${api}/legal-moves`);
    if (legal.version_tag === version() && shown() === plies() && !chosen && !composer.active && !bench.active) offer(legal.hints, legal.compositions);
  } catch (problem) {
    say(problem.message, true);
  }
}

function offer(hints, compositions) {
  board.offer(hints);
  composer.offer(compositions);
  if (compositions.length && !Object.keys(hints).length) say("Only a move that is put together is left to you.");
}

function announce(before) {
  if (plies() === ours) return say("Your move is played.");
  const told = [...at("standing").querySelectorAll(".state, .result p")].map((each) => each.textContent).join(" ");
  const sentence = told.replace(/\s+/g, " ").replace("●", "").trim();
  const latest = plies() > before.plies ? at("moves").querySelector(`[data-ply="${plies()}"]`)?.firstElementChild.textContent : null;
  say(`${latest ? `${latest} was played. ` : ""}${sentence}`);
}

const currentMove = () => at("moves").querySelector("[aria-current]");

// Shows the current move in the list, which is one stop of the Tab key: from there the arrow keys go through the moves.
function scrollToCurrent() {
  const list = at("moves");
  const current = currentMove();
  for (const link of list.querySelectorAll("a")) link.tabIndex = link === (current || list.querySelector("a")) ? 0 : -1;
  if (!current) list.scrollTop = 0;
  else list.scrollTop += current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
}

// The ratings follow a match's end by a moment: look for them a few times.
function awaitRatings(delay = 1000) {
  awaitingRatings = Boolean(standing().unratedYet) && delay < 20000;
  if (!awaitingRatings) return;
  setTimeout(async () => {
    await refresh({quietly: true});
    awaitRatings(delay * 2);
  }, delay);
}

// Choosing and submitting a move

const tryOut = (move) => bench.add(move).catch((error) => say(error.message, true));

// Resolves to the board as the query wants it: after a move, or after parts of one.
async function picture(query) {
  try {
    const answer = await fetch(`${location.pathname}/board.svg?${new URLSearchParams([["turned", turned], ...query])}`, {headers: {Accept: "image/svg+xml, application/problem+json"}});
    if (!answer.ok) throw new Error((await answer.json()).detail);
    return answer;
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The server cannot be reached. Try again.");
    throw error;
  }
}

async function choose(move) {
  const answer = await picture([["try", move]]);
  chosen = {move: decodeURIComponent(answer.headers.get("Rookery-Move") || move), key: newKey()};
  board.offer({});
  composer.hide();
  board.show(await answer.text());
  at("chosen").textContent = chosen.move;
  at("confirm").hidden = false;
  at("submit").focus({preventScroll: true});
  uncoverBoard();
  say(`${chosen.move} is chosen. Submit it with Enter, or cancel it with Escape.`, false, true);
}

// On a small screen the confirmation stands above the page: the board must not be below it.
function uncoverBoard() {
  const [below, above] = [at("board"), at("confirm")].map((part) => part.getBoundingClientRect());
  if (above.left < below.right && above.top < below.bottom) scrollBy(0, below.bottom - above.top);
}

function chooseAndSay(move) {
  return choose(move).catch((error) => say(error.message, true));
}

function forgetChoice() {
  composer.stop();
  unchoose();
}

function unchoose() {
  chosen = null;
  at("confirm").hidden = true;
  at("submit").disabled = false;
  at("with-draw").checked = false;
  at("typed").value = "";
}

async function cancel() {
  const square = board.current;
  unchoose();
  say("");
  await (composer.active ? composer.resume() : refresh());
  board.squares.get(square)?.focus({preventScroll: true});
}

function leave() {
  forgetChoice();
  say("");
  return refresh();
}

async function submit() {
  if (!chosen || at("submit").disabled) return;
  at("submit").disabled = true;
  say("Submitting …");
  ours = plies() + 1;
  try {
    await call("POST", `${api}/moves`, {move: chosen.move, offer_draw: at("with-draw").checked}, {"Idempotency-Key": chosen.key, "If-Match": `"${version()}"`});
    forgetChoice();
    await refresh({ply: null, quietly: true});
    say("Your move is played.");
  } catch (problem) {
    await recover(problem, "Your move was not played.");
  }
}

// After a refusal: what may be tried again stays as it is, what is out of date is loaded afresh.
async function recover(problem, consequence) {
  ours = 0;
  at("submit").disabled = false;
  if ([0, 429, 503].includes(problem.status)) return say(`${problem.message} Press again to repeat it; it counts once only.`, true);
  forgetChoice();
  await refresh({ply: null, quietly: true});
  const stale = problem.code === "stale-version" && "The match has moved on meanwhile; this is how it stands now.";
  say(`${stale || problem.message} ${consequence}`, true);
}

function showOptions(options) {
  at("options").replaceChildren(...options.map(({text, take}) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", take);
    return button;
  }));
}

at("type-move").addEventListener("submit", async (event) => {
  event.preventDefault();
  const move = at("typed").value.trim();
  at("typed-error").textContent = "";
  at("typed").removeAttribute("aria-invalid");
  try {
    if (!move) throw new Error("Type a move first, for instance one of the moves played so far.");
    await bench.opening;
    if (bench.active) {
      await bench.add(move);
      if (at("typed").value.trim() === move) at("typed").value = "";
      return;
    }
    if (shown() !== plies()) await refresh({ply: null, quietly: true});
    if (!standing().mine) throw new Error("It is not your move now.");
    await choose(move);
  } catch (error) {
    at("typed-error").textContent = error.message;
    at("typed").setAttribute("aria-invalid", "true");
  }
});

at("submit").addEventListener("click", submit);
at("cancel").addEventListener("click", cancel);

// Acting beside moving

takeActs({page, api, version, refresh: () => refresh({ply: null}), recover: (problem) => recover(problem, "")});

page.addEventListener("click", async (event) => {
  if (event.target.id !== "copy") return;
  try {
    await navigator.clipboard.writeText(location.origin + location.pathname);
    say("The address is copied.");
  } catch {
    say(`The address is ${location.origin}${location.pathname}`);
  }
});

// Stepping through the moves

function goTo(ply) {
  if (bench.active) return say("Save your lines or close them first.");
  const wanted = Math.max(0, Math.min(plies(), ply));
  if (chosen || composer.active) forgetChoice();
  if (wanted !== shown() || at("board").hasAttribute("aria-busy")) refresh({ply: wanted === plies() ? null : wanted, quietly: true});
}

function step(kind) {
  if (bench.active) return bench.step(kind);
  goTo({first: 0, previous: shown() - 1, next: shown() + 1, last: plies()}[kind]);
}

page.addEventListener("click", (event) => {
  const link = event.target.closest("[data-ply], [data-step]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.ply) goTo(Number(link.dataset.ply));
  else step(link.dataset.step);
});

at("turn").addEventListener("click", () => {
  turned = turned === "1" ? "0" : "1";
  forgetChoice();
  if (bench.active) bench.show();
  else refresh({quietly: true});
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || at("ask").open) return;
  if (event.target.closest("input, select, textarea")) return;
  if (event.key in STEPS && (event.key.length === 1 || event.target.closest("#moves"))) {
    event.preventDefault();
    step(STEPS[event.key]);
  } else if (event.key === "Escape" && chosen) cancel();
  else if (event.key === "Escape" && composer.active) leave();
  else if (event.key === "Enter" && chosen && !event.target.closest("button, a, summary")) submit();
});

scrollToCurrent();
settle();
