// Clocks that count down in the page, and instants in local time.
//
// The server sends the remaining time; the page subtracts the time elapsed since, so that a wrong clock of the reader's
// machine does not matter.

const MAX_TIMER_MS = 2 ** 31 - 1;
const ASLEEP_MS = 60000;

// Returns a function to call when the clocks have been rendered again. `changed()` is called when they become outdated:
// a pause begins or ends, time is up, or the page was suspended.
export function runClocks(scope, changed) {
  let rendered = performance.now();
  let looked = Date.now();
  let timer = null;

  function tick() {
    const passed = performance.now() - rendered;
    for (const clock of scope.querySelectorAll("[data-left]")) {
      const words = duration(clock.dataset.left - passed);
      if (clock.textContent !== words) clock.textContent = words;
    }
  }

  function restart() {
    rendered = performance.now();
    looked = Date.now();
    showLocalTimes(scope);
    tick();
    clearTimeout(timer);
    const next = scope.querySelector("[data-changes-in]")?.dataset.changesIn;
    if (next !== undefined) timer = setTimeout(changed, Math.min(Number(next), MAX_TIMER_MS));
  }

  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", () => {
    // The timer may have stopped while the machine slept.
    if (document.visibilityState === "visible" && Date.now() - looked > ASLEEP_MS) changed();
  });
  restart();
  return restart;
}

// Returns milliseconds in words like the server: the two largest units, with seconds in the last hour.
function duration(left) {
  if (left <= 0) return "no time";
  const seconds = Math.floor(left / 1000);
  const parts = [
    ["day", Math.floor(seconds / 86400)],
    ["hour", Math.floor(seconds / 3600) % 24],
    ["minute", Math.floor(seconds / 60) % 60],
  ];
  if (seconds < 3600) parts.push(["second", seconds % 60]);
  const words = parts
    .filter(([, number]) => number)
    .map(([unit, number]) => `${number} ${unit}${number === 1 ? "" : "s"}`);
  return words.slice(0, 2).join(" ") || "less than a second";
}

// Adds the local time to each instant given in UTC.
export function showLocalTimes(scope) {
  for (const instant of scope.querySelectorAll("time[data-local]")) {
    const at = new Date(instant.dateTime);
    instant.removeAttribute("data-local");
    if (at.getTimezoneOffset() === 0) continue;
    const sameDay = at.getDate() === at.getUTCDate();
    const day = sameDay ? {} : {weekday: "short", day: "numeric", month: "long"};
    const local = new Intl.DateTimeFormat("en-GB", {...day, hour: "2-digit", minute: "2-digit"}).format(at);
    const localTime = document.createElement("span");
    localTime.className = "local";
    localTime.textContent = ` (${local} your time)`;
    instant.append(localTime);
  }
}
