// The menu of the header is a <details>, which opens without a script. Escape, a click elsewhere and leaving close it.

export function enableClosing(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation(); // Escape has another meaning on the match page
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
