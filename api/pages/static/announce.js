// Speaks to those who cannot see the board: what has happened, in the server's sentences, and what a key asked for.
//
// Each text is a line of its own that is added to the live region, so that one which follows quickly takes nothing from
// the one before it. Only the last line is seen.

const KEPT = 3;

export class Announcer {
  constructor(region) {
    this.region = region;
    this.news = [];
  }

  // Says a text; an empty one takes away what was said. `bad` marks a failure, `aside` is for who cannot see the board.
  say(text, bad = false, aside = false) {
    if (!text) return this.region.replaceChildren();
    for (const line of this.region.children) line.className = "visually-hidden";
    const line = document.createElement("p");
    line.className = aside ? "visually-hidden" : bad ? "bad" : "";
    line.textContent = text;
    this.region.append(line);
    while (this.region.children.length > KEPT) this.region.firstElementChild.remove();
  }

  // Keeps what has happened until it is told.
  hear(text) {
    if (text) this.news.push(text);
  }

  // Tells in one text all that has happened since the last time, and then `more`; tells nothing when nothing has.
  tell(more = "") {
    if (!this.news.length) return;
    this.say([...this.news, more].filter(Boolean).join(" "));
    this.news = [];
  }
}
