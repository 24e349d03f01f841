// Shows the notices that push services deliver. Browsers with declarative web push show them by themselves: the message
// is the same, {"web_push": 8030, "notification": {title, body, tag, navigate}}.

const UNREADABLE = {title: "Rookery", body: "There is news. Open Rookery to read it.", navigate: "/"};

// Every message shows a notification: browsers end the subscriptions of pages that receive messages in silence.
self.addEventListener("push", (event) => {
  const {title, body, tag, navigate} = read(event.data);
  const renotify = Boolean(tag); // news about a match replaces what was shown about it, and is heard
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
  const there = windows.find((each) => each.url.split("#")[0] === url.href.split("#")[0]);
  await (there ? there.focus() : self.clients.openWindow(url.href));
}
