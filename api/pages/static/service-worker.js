// Shows the notices that push services deliver. Browsers with declarative web push show them by themselves: the message
// is the same, {"web_push": 8030, "notification": {title, body, tag, navigate}}.

const UNREADABLE = {title: "Rookery", body: "There is news. Open Rookery to read it.", navigate: "/"};

// Every message shows a notification: browsers end the subscriptions of pages that receive messages in silence.
self.addEventListener("push", (event) => {
  const {title, body, tag, navigate} = read(event.data);
  const renotify = Boolean(tag); // news about a match replaces earlier news of it, and is heard
  event.waitUntil(self.registration.showNotification(title, {body, tag, renotify, data: {navigate}}));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.navigate));
});

self.addEventListener("install", () => self.skipWaiting());

function read(data) {
  try {
    const {notification} = data.json();
    return notification.title ? notification : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

// Shows a page of this site: in a window that has it already, or else in a new one.
async function show(address) {
  const url = new URL(address, self.location.origin);
  if (url.origin !== self.location.origin) return;
  const windows = await self.clients.matchAll({type: "window", includeUncontrolled: true});
  const there = windows.find((client) => client.url.split("#")[0] === url.href.split("#")[0]);
  await (there ? there.focus() : self.clients.openWindow(url.href));
}

// While the server cannot be reached, the page of a match and its legal moves are answered from the cache of this
// device (kept-matches.js). Everything comes from the network first, and whatever fails here is left to the network.

const KEPT = "kept";
const OFFLINE = "/offline";
const NEEDED = /^\/static\/|\/legal-moves$/;

self.addEventListener("fetch", (event) => {
  const {request} = event;
  const {origin, pathname} = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" || NEEDED.test(pathname)) event.respondWith(answer(request, pathname));
});

async function answer(request, path) {
  try {
    return await fetch(request);
  } catch {
    const kept = await find(path);
    if (request.mode !== "navigate") return kept ?? Response.error();
    return kept ? dated(kept) : ((await find(OFFLINE)) ?? Response.error());
  }
}

async function find(path) {
  try {
    return await (await caches.open(KEPT)).match(path, {ignoreVary: true});
  } catch {
    return undefined; // the storage is disabled or full
  }
}

// Tells a kept page of which instant it is.
async function dated(page) {
  const at = new Date(page.headers.get("Date")).toISOString();
  const text = (await page.text()).replace("<main ", `<main data-as-of="${at}" `);
  return new Response(text, {headers: page.headers});
}
