// The page that verifies: takes files, tells them apart, and shows the proof. Nothing leaves the browser.

import {judgeCheckpoint, judgeReceipt} from "./evidence.js";
import {KINDS, recognise} from "./files.js";
import {findSupport, utf8} from "./hashes.js";
import {readKeySet} from "./keys.js";
import {parseTreeHead} from "./notes.js";
import {readPolicy} from "./policies.js";
import {Replay} from "./replay.js";
import {verifyBundle} from "./verify.js";
import {counted, describePlace, describeStep, instant, meaningOf, sentence} from "./words.js";

const MAX_FILE_BYTES = 20_000_000; // larger files are not read
const RULES_COMMAND = "rookery audit verify BUNDLE --keys KEYS";
const STEPS = ["well-formed", "chain", "signature", "tournament", "player keys", "checkpoint", "cosigned"];

const SOMETIMES = ["tournament", "player keys", "cosigned"]; // steps that not every bundle has
const UNKNOWN_KEY = ["signature.key", "inclusion.checkpoint.key"]; // places of keys that were not given

const at = (id) => document.getElementById(id);
const given = []; // the files, in the order in which they were read
const replay = new Replay(at("replay"), JSON.parse(at("tables").textContent));
const supported = findSupport();
let round = 0; // a verification that is overtaken by a newer one shows nothing

function listen() {
  const drop = at("drop");
  drop.addEventListener("submit", (event) => event.preventDefault());
  at("files").addEventListener("change", ({target}) => {
    add([...target.files]);
    target.value = ""; // the same file may be chosen again
  });
  for (const type of ["dragenter", "dragover"])
    addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  addEventListener("dragleave", ({relatedTarget}) => drop.classList.toggle("is-over", relatedTarget !== null));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("is-over");
    add([...event.dataTransfer.files]);
  });
  addEventListener("paste", ({clipboardData}) => {
    const text = clipboardData.getData("text/plain");
    const pasted = text ? [new File([text], "pasted text")] : [];
    add([...clipboardData.files, ...pasted]);
  });
}

async function sayWhatIsMissing() {
  const {sha256, ed25519} = await supported;
  if (sha256 && ed25519) return;
  at("unsupported").hidden = false;
  at("unsupported").textContent = sha256
    ? "This browser cannot check Ed25519 signatures. Everything else is verified, and no signature is called proved."
    : "This browser cannot verify anything here: it offers cryptography only to pages that come over HTTPS, from this computer or from a file. Keep the page as a file and open that.";
}

async function add(files) {
  const mine = ++round;
  for (const file of files) {
    say(`Reading ${file.name}`);
    given.push({name: file.name, ...(await read(file))});
  }
  listFiles();
  if (mine !== round) return;
  try {
    await verify(mine);
  } catch (error) {
    say(`The verification could not be done, so that nothing is proved: ${error.message}`);
    throw error;
  }
}

async function read(file) {
  if (file.size > MAX_FILE_BYTES) return {kind: "unknown", reason: `it has more than ${MAX_FILE_BYTES} bytes`};
  try {
    return recognise(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    return {kind: "unknown", reason: `it cannot be read (${error.message})`};
  }
}

function listFiles() {
  const items = given.map(({name, kind, reason}) =>
    made("li", {}, made("b", {}, name), ` · ${KINDS[kind]}${reason ? `: ${reason}` : ""}`),
  );
  at("read").replaceChildren(...items);
}

async function verify(mine) {
  const file = given.findLast(({kind}) => kind === "bundle");
  if (!file) return say(given.length ? "Add a bundle to verify." : "");
  if (!(await supported).sha256) return say("");
  say(`Verifying ${file.name}`, 0);
  const {ed25519} = await supported;
  const trusted = {...(await findKeys()), ...(await findPolicy()), ed25519};
  const progress = (share) => mine === round && say(`Verifying ${file.name}`, share);
  let report = await verifyBundle(file.bytes, {...trusted, progress});
  if (trusted.builtIn && UNKNOWN_KEY.includes(report.fault?.place)) {
    // A bundle of another installation than the one that made this page is no forgery.
    Object.assign(trusted, {
      keys: null,
      refusal: "its key is not among those that came with this page: add its server's key set",
    });
    report = await verifyBundle(file.bytes, {...trusted, progress});
  }
  const evidence = report.fault ? [] : await judgeEvidence(report.bundle, trusted);
  if (mine !== round) return;
  say("");
  show(file, {...report, evidence}, trusted);
}

// The keys that were added, or else those that this page carries.
async function findKeys() {
  const file = given.findLast(({kind}) => kind === "keys");
  if (file) {
    try {
      const keys = await readKeySet(file.bytes);
      return {
        keys,
        keySource: `which is in the key set ${file.name}: it is as trustworthy as your source of that file`,
      };
    } catch (error) {
      return {
        keys: null,
        refusal: `the key set ${file.name} is refused: ${error.place ? `${error.place}: ` : ""}${error.message}`,
      };
    }
  }
  const keys = await readKeySet(utf8(at("server-keys").textContent));
  return {
    keys,
    builtIn: true,
    keySource: "which came with this page: only the server that gave you the page vouches for it",
  };
}

async function findPolicy() {
  const file = given.findLast(({kind}) => kind === "policy");
  if (!file) return {policy: null};
  try {
    return {policy: await readPolicy(file.text)};
  } catch (error) {
    return {
      policy: null,
      policyRefusal: `the policy ${file.name} is refused: ${error.place ? `${error.place}: ` : ""}${error.message}`,
    };
  }
}

// The verdicts of the added receipts and checkpoints on a bundle.
async function judgeEvidence(bundle, {keys, ed25519}) {
  const of = (wanted) => given.filter(({kind}) => kind === wanted);
  const proofs = of("consistency").map(({bytes}) => bytes);
  const steps = [];
  const take = (step, name, {state, text}) => steps.push(describeStep(step, state, `${name}: ${text}`));
  for (const {name, bytes} of of("receipt")) take("receipts", name, await judgeReceipt(bytes, bundle, keys, ed25519));
  for (const {name, bytes} of of("checkpoint"))
    take("kept", name, await judgeCheckpoint(bytes, proofs, bundle, keys, ed25519));
  return steps;
}

function show(file, report, trusted) {
  const {bundle, fault} = report;
  const steps = stepsOf(report, trusted);
  const {className, words} = verdictOf(report);
  const title = at("verdict-title");
  title.className = `banner ${className}`;
  title.textContent = words;
  at("summary").replaceChildren(...(bundle ? summaryOf(file, bundle) : []));
  at("steps").replaceChildren(
    ...steps.map(({step, state, title: name, label, text}) =>
      made(
        "li",
        {class: state, "data-step-name": step},
        made("span", {class: "state"}, label),
        made("b", {}, name),
        made("p", {}, text),
      ),
    ),
  );
  at("verdict").hidden = false;
  const game = bundle?.facts.rulesets.at(-1)?.game;
  if (game === undefined || fault) replay.close();
  else replay.open(game, bundle.facts.positions ?? [], bundle.events);
  at("verdict").focus({preventScroll: true});
  at("verdict").scrollIntoView({block: "nearest"});
}

const VERDICTS = {
  "well-formed": "this file is not a bundle as a server makes it",
  chain: "this is not what was recorded",
  signature: "this is not what the server signed",
  tournament: "this does not follow from the lots and the results",
  "player keys": "no player has signed this",
  checkpoint: "this is not what the server logged",
  cosigned: "this is not what witnesses have seen",
};

function verdictOf({bundle, evidence, fault, proved}) {
  if (fault && UNKNOWN_KEY.includes(fault.place))
    return {
      className: "bad",
      words: "None of the given keys has signed this: add the key set of the server that made it",
    };
  if (fault) return {className: "bad", words: `Fault ${describePlace(fault.place, bundle)}: ${VERDICTS[fault.step]}`};
  if (evidence.some(({state}) => state === "fault"))
    return {className: "bad", words: "The server has told two stories, and signed both"};
  if (proved.includes("signature"))
    return {className: "good", words: "The record is whole, and the server has signed it"};
  return {className: "", words: "The record fits together, but it is not shown that anybody vouches for it"};
}

function stepsOf(report, trusted) {
  const {proved, unproved, fault, bundle} = report;
  const steps = [];
  for (const step of STEPS) {
    if (proved.includes(step)) steps.push(describeStep(step, "proved", meaningOf(step, {...report, ...trusted})));
    else if (unproved.has(step))
      steps.push(describeStep(step, "unproved", `${sentence(trusted.refusal ?? unproved.get(step))}.`));
    else if (fault?.step === step)
      steps.push(
        describeStep(
          step,
          "fault",
          `${sentence(describePlace(fault.place, bundle))}: ${fault.message ?? fault.reason}.`,
        ),
      );
    else if (fault && STEPS.indexOf(fault.step) < STEPS.indexOf(step) && !SOMETIMES.includes(step))
      steps.push(describeStep(step, "unchecked", "The verification ends at the first fault."));
  }
  if (trusted.policyRefusal) steps.push(describeStep("cosigned", "unproved", `${sentence(trusted.policyRefusal)}.`));
  else if (!trusted.policy && bundle?.inclusion?.note && !fault)
    steps.push(describeStep("cosigned", "unchecked", claimedWitnesses(bundle.inclusion.note)));
  steps.push(...report.evidence);
  if (!fault)
    steps.push(
      describeStep(
        "rules",
        "unchecked",
        `Whether every move was legal, each event one that its actor could cause, and the result right: ${RULES_COMMAND} checks it.`,
      ),
    );
  return steps;
}

function claimedWitnesses(note) {
  const {origin, signatures} = parseTreeHead(note);
  const names = [...new Set(signatures.map(({name}) => name))].filter((name) => name !== origin);
  const claim = names.length
    ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} said to have cosigned`
    : "No witness is said to have cosigned";
  return `${claim}. Add a policy that names the witnesses you trust to have it checked.`;
}

function summaryOf(file, {match, facts, events, head}) {
  const {game, ruleset} = facts.rulesets.at(-1) ?? {};
  const title = replay.tables[game]?.title ?? game;
  const rows = [
    ["File", file.name],
    ["Match", match],
    ["Game", game === undefined ? "unknown" : `${title}, ruleset ${ruleset}`],
    [
      "Players",
      facts.seats.map(({player, level}) => (player ?? "open seat") + (level ? ` (level ${level})` : "")).join(", "),
    ],
    ["Recorded", `${counted(events.length, "event")}, the last on ${instant(events.at(-1).at)}`],
    ["Stated result", statedResult(facts)],
    ["Head", `version ${head.version}, digest ${head.digest}`],
  ];
  return rows.flatMap(([name, value]) => [made("dt", {}, name), made("dd", {}, value)]);
}

function statedResult({result, reason, status}) {
  const scores = result ? `${result.scores.join(" : ")}` : (status ?? "unknown");
  return reason ? `${scores}, ${reason.replaceAll("-", " ")}` : scores;
}

function say(text, share = null) {
  at("progress").firstElementChild.textContent = text;
  const bar = at("progress").querySelector("progress");
  bar.hidden = share === null;
  bar.value = share ?? 0;
}

function made(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

listen();
sayWhatIsMissing();
