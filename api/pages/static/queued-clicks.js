// Repeats clicks made before the scripts of the page were loaded: they are modules, which run late on a slow connection.

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
