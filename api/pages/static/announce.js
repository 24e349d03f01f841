// Announces events, in the server's sentences, and answers to keys in a live region for screen readers.
//
// Each text is a line of its own, so that quick successions do not cut each other off. Only the last line is visible.

const MAX_LINES = 3;

export class Announcer {
  constructor(region) {
    this.region = region;
    this.news = [];
  }

  // Announces a text; an empty one clears the region. `bad` marks a failure, `aside` is for screen readers only. `link`
  // with {text, href} follows the text.
  say(text, bad = false, aside = false, link = null) {
    if (!text) return this.region.replaceChildren();
    this.hide();
    const line = document.createElement("p");
    line.className = aside ? "visually-hidden" : bad ? "bad" : "";
    line.textContent = text;
    if (link) {
      const onwards = document.createElement("a");
      Object.assign(onwards, {href: link.href, textContent: link.text});
      line.append(" ", onwards);
    }
    this.region.append(line);
    while (this.region.children.length > MAX_LINES) this.region.firstElementChild.remove();
  }

  // Leaves old announcements to screen readers: they are outdated.
  hide() {
    for (const line of this.region.children) {
      line.className = "visually-hidden";
      line.querySelector("a")?.remove();
    }
  }

  // Queues a text until `tell`.
  hear(text) {
    if (text) this.news.push(text);
  }

  // Announces all queued texts at once, followed by `more`; does nothing if none are queued. `aside` as for `say`.
  tell(more, aside) {
    if (!this.news.length) return;
    this.say([...this.news, more].filter(Boolean).join(" "), false, aside);
    this.news = [];
  }
}
