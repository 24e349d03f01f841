// Zoom for small squares on touch screens: the first tap enlarges the board around the point, the next one chooses.
// Mouse, keyboard and the browser's own zoom are not affected.

const SMALL_PX = 28;
const FACTOR = 2.5;
const EXPLAINED = "rookery-zoom-explained"; // in localStorage, once the first tap has been explained on this device

// `button`, shown while the board is enlarged, shows all of it again. `say` explains the first tap, once on each device.
export function enableZoom(board, button, say) {
  const {frame} = board;
  let pointer = "";
  let fullView = null; // the view of the whole board while a part of it is shown

  const svg = () => frame.querySelector("svg");
  const side = () => frame.querySelector(".square rect")?.getBoundingClientRect().width;
  const zoomed = () => Boolean(svg()?.classList.contains("zoomed"));

  function zoomIn(x, y) {
    const point = new DOMPoint(x, y).matrixTransform(svg().getScreenCTM().inverse());
    fullView = svg().getAttribute("viewBox");
    const [left, top, width, height] = fullView.split(" ").map(Number);
    const within = (middle, start, length) =>
      Math.min(Math.max(middle - length / FACTOR / 2, start), start + length - length / FACTOR);
    svg().setAttribute(
      "viewBox",
      [within(point.x, left, width), within(point.y, top, height), width / FACTOR, height / FACTOR].join(" "),
    );
    svg().classList.add("zoomed");
    button.hidden = false;
  }

  function explain() {
    try {
      if (localStorage.getItem(EXPLAINED)) return;
      localStorage.setItem(EXPLAINED, "1");
    } catch {
      return; // storage is disabled: it would be explained at every tap
    }
    say("The board is enlarged: tap a piece to choose it.");
  }

  function zoomOut() {
    if (!zoomed()) return;
    svg().setAttribute("viewBox", fullView);
    svg().classList.remove("zoomed");
    button.hidden = true;
  }

  // Whether every square that can be chosen next is in view.
  function complete() {
    const view = svg().getBoundingClientRect();
    return [...board.targets()].every((name) => {
      const {left, top, right, bottom} = board.squares.get(name).getBoundingClientRect();
      return left > view.left - 1 && top > view.top - 1 && right < view.right + 1 && bottom < view.bottom + 1;
    });
  }

  frame.addEventListener("pointerdown", (event) => (pointer = event.pointerType), true);
  frame.addEventListener(
    "click",
    (event) => {
      if (pointer !== "touch" || event.detail === 0 || zoomed() || !svg() || side() >= SMALL_PX) return;
      event.stopPropagation();
      zoomIn(event.clientX, event.clientY);
      explain();
    },
    true,
  );
  frame.addEventListener("click", () => zoomed() && !complete() && zoomOut());
  button.addEventListener("click", zoomOut);
  document.addEventListener("keydown", (event) => event.key === "Escape" && zoomOut());
  new MutationObserver(() => (button.hidden = !zoomed())).observe(frame, {childList: true});
}
