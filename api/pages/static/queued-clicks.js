// What is pressed before the scripts of a page have come is pressed when they have: they are modules, which a browser
// runs before it tells that the page is there. Without this, whoever is quick on a slow line presses in vain.

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
