// The first steps and puzzles that have been done, kept in this browser: a list of ids under a name.

export function ticked(name) {
  try {
    return new Set(JSON.parse(localStorage.getItem(name) ?? "[]"));
  } catch {
    return new Set(); // storage is disabled
  }
}

export function tick(name, id) {
  try {
    localStorage.setItem(name, JSON.stringify([...ticked(name).add(id)]));
  } catch {
    // Storage is disabled: there are no ticks.
  }
}

for (const list of document.querySelectorAll("[data-ticked]")) {
  const done = ticked(list.dataset.ticked);
  for (const entry of list.querySelectorAll("[data-id]"))
    if (done.has(entry.dataset.id)) entry.querySelector(".tick").textContent = "✓ done";
}
