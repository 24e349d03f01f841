// Runs before the first paint. Shows the settings of this device, which device-settings.js keeps in this browser as data-*
// attributes of the page; and repeats clicks made before the other scripts of the page were loaded: they are modules,
// which run late on a slow connection.

try {
  Object.assign(document.documentElement.dataset, JSON.parse(localStorage.device ?? "{}"));
} catch {
  // Storage is disabled, or holds something else.
}

{
  let pressed = null;
  const keep = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pressed = button;
  };
  addEventListener("click", keep, true);
  addEventListener("DOMContentLoaded", () => {
    removeEventListener("click", keep, true);
    pressed?.click();
  });
}
