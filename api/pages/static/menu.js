// The menu of the header is a <details>: it opens without this. Escape, a press elsewhere and leaving it close it.

export function closable(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation(); // on the page of a match Escape means something else
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", ({relatedTarget}) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  document.addEventListener("pointerdown", ({target}) => {
    if (!menu.contains(target)) menu.open = false;
  });
}
