// Shares the position shown and stretches of a match: addresses and pictures.

import {whenMade} from "./made.js";

const MAX_PLIES = 120; // of one GIF
const POSITION = [
  `<div class="row"><button type="button" class="small">Copy a link to this position</button>`,
  `<a class="button small" href="#board">Picture of it (PNG)</a></div>`,
];
const MOVES = [
  `<form class="row" novalidate><label>Moves <input name="first" inputmode="numeric" size="4"></label>`,
  `<label>to <input name="last" inputmode="numeric" size="4"></label>`,
  `<button class="small">Make a GIF</button></form>`,
];
const STATUS = `<p class="small" role="status"></p>`;

// Puts an address into the clipboard, and says so.
export async function copyAddress(address, say) {
  try {
    await navigator.clipboard.writeText(address);
    say("The address is copied.");
  } catch {
    say(`The address is ${address}`);
  }
}

// Fills the section of the match page when it is first opened. `match` has api, shown(), plies() and turned();
// copy(address) puts an address into the clipboard.
export function show(section, match, copy) {
  if (section.querySelector("button")) return;
  const page = section.closest("[data-match]");
  const last = match.plies();
  section.insertAdjacentHTML("beforeend", [...POSITION, ...(last ? MOVES : []), STATUS].join(" "));
  const form = section.querySelector("form");
  const status = section.querySelector("[role=status]");
  const place = () => new URLSearchParams({ply: match.shown(), turned: match.turned()});

  section.querySelector("button").addEventListener("click", () => {
    copy(`${location.origin}${location.pathname}?${place()}`);
  });
  section.querySelector("a").addEventListener("click", ({currentTarget: link}) => {
    link.href = `${location.pathname}/board.png?${place()}`;
    link.download = `rookery-${page.dataset.match}-${match.shown()}.png`;
  });
  if (form) {
    form.elements.first.value = Math.max(0, last - MAX_PLIES);
    form.elements.last.value = last;
  }
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    animate().catch(({message}) => tell(message));
  });

  async function animate() {
    const {first, last} = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, Number(value)]));
    const quarters = (Number(match.turned()) * 4) / Number(page.dataset.turns);
    const button = form.querySelector("button");
    button.disabled = true;
    tell("The picture is being made.");
    try {
      const {url} = await whenMade(`${match.api}/animations`, {first, last, quarters});
      const link = document.createElement("a");
      Object.assign(link, {href: url, textContent: `Moves ${first} to ${last} as a GIF`});
      status.replaceChildren(link, ". It is kept for a day.");
    } finally {
      button.disabled = false;
    }
  }

  function tell(words) {
    status.replaceChildren(words);
  }
}
