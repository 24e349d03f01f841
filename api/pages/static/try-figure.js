// The figures of a rules page that can be tried: a button puts a playable figure in the place of the drawing.

import {FigurePlayer} from "./figure.js";

let close = () => {};

for (const button of document.querySelectorAll("[data-try]")) button.addEventListener("click", () => open(button));

async function open(button) {
  const answer = await fetch(button.dataset.try).catch(() => null);
  close();
  const holder = button.closest("figure");
  const section = document.getElementById("playable").content.firstElementChild.cloneNode(true);
  holder.before(section);
  if (!answer?.ok) {
    section.querySelector('[data-part="said"]').textContent = "The server cannot be reached.";
  } else {
    const player = new FigurePlayer(section);
    player.start(await answer.json());
  }
  section.setAttribute("aria-label", `${button.dataset.name}, to try`);
  holder.classList.add("tried");
  button.hidden = true;
  section.querySelector('[data-part="close"]').addEventListener("click", () => {
    close();
    button.focus();
  });
  close = () => {
    section.remove();
    holder.classList.remove("tried");
    button.hidden = false;
    close = () => {};
  };
  section.querySelector('.square[tabindex="0"]')?.focus({preventScroll: true});
  section.scrollIntoView({block: "nearest"});
}
