// The page shown without a connection: lists the matches that this device keeps.

const list = document.getElementById("kept");

for (const {url} of await (await caches.open("kept")).keys()) {
  const {pathname} = new URL(url);
  if (!/^\/matches\/[^/]+$/.test(pathname)) continue;
  const page = await caches.match(pathname);
  const {title} = new DOMParser().parseFromString(await page.text(), "text/html");
  const entry = document.createElement("li");
  const link = Object.assign(document.createElement("a"), {href: pathname, className: "title", textContent: title});
  const at = new Date(page.headers.get("Date")).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
  const facts = Object.assign(document.createElement("span"), {className: "facts", textContent: `as of ${at}`});
  entry.append(link, facts);
  list.append(entry);
}
