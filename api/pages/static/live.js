// Watches a match by its event stream, and by polling while the stream is interrupted; tells the server who looks on.

// The server writes their names here (static_files.py).
const EVENTS = "the types of events".split(" ");
const POLL_MS = 5000;
const REOPEN_MS = 30000;
const REPORT_MS = 60000;

// `version()` is the version tag shown; `changed()` is called when there is a newer or a replaced one, or a rematch;
// `rematch()` tells whether the page knows of one. `heard()` is called when there may be new chat messages.
export function watch({match, stream, version, rematch, changed, heard, say}) {
  let source = null;
  let polling = null;
  let reopening = null;

  function open() {
    clearTimeout(reopening);
    source?.close();
    source = new EventSource(`${stream}?after=${version()}`, {withCredentials: true});
    source.addEventListener("open", () => {
      if (polling) poll(); // the stream repeats missed events, but not the news of a rematch
      stopPolling();
      say("");
    });
    for (const type of EVENTS) {
      source.addEventListener(type, (event) => {
        if (!includes(event.lastEventId, version())) changed();
      });
    }
    source.addEventListener("reset", changed); // the version shown is no longer part of the match
    source.addEventListener("rematch", changed);
    source.addEventListener("chat", heard);
    source.addEventListener("error", () => {
      startPolling();
      say("The live connection is interrupted; the page checks for moves every few seconds.");
      if (source.readyState === EventSource.CLOSED) {
        clearTimeout(reopening);
        reopening = setTimeout(open, REOPEN_MS);
      }
    });
  }

  function startPolling() {
    polling = polling || setInterval(poll, POLL_MS);
  }

  function stopPolling() {
    clearInterval(polling);
    polling = null;
  }

  async function poll() {
    try {
      const answer = await fetch(`/api/v1/matches/${match}`, {
        headers: rematch() ? {"If-None-Match": `"${version()}"`} : {},
        cache: "no-store",
      });
      if (answer.status === 200) {
        const shown = await answer.json();
        if (shown.version_tag !== version() || Boolean(shown.rematch) !== rematch()) changed();
      }
      if (polling) heard();
    } catch {
      // Still unreachable: the next poll tries again.
    }
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") poll();
  });
  open();
}

// Reports that the match is open in a visible page, or no longer: meanwhile its player needs no notices about it.
export function reportPresence(match) {
  const visible = () => document.visibilityState === "visible";
  const report = () =>
    fetch("/api/v1/me/presence", {
      method: "PUT",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify({match, visible: visible()}),
      keepalive: true, // the page may be closing
    }).catch(() => {}); // a report that is lost costs one notice too many
  document.addEventListener("visibilitychange", report);
  setInterval(() => visible() && report(), REPORT_MS);
  report();
}

// Tells whether the version `shown` includes the event `tag`; both look like 6-3fa9c1d25b0e7c44.
function includes(tag, shown) {
  return tag === shown || Number(tag.split("-")[0]) < Number(shown.split("-")[0]);
}
