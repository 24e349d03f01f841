(() => {
  const stored = () => JSON.parse(localStorage.getItem("fake") ?? "null");
  const bytes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const present = () => {
    const found = stored();
    return found && {
      options: {applicationServerKey: bytes(found.key).buffer},
      toJSON: () => found.subscription,
      unsubscribe: async () => localStorage.removeItem("fake"),
    };
  };
  Object.defineProperty(Notification, "permission", {get: () => localStorage.getItem("permission") ?? "default"});
  Notification.requestPermission = async () => {
    localStorage.setItem("permission", "granted");
    return "granted";
  };
  PushManager.prototype.getSubscription = async () => present();
  PushManager.prototype.subscribe = async ({applicationServerKey}) => {
    const key = String.fromCharCode(...applicationServerKey);
    if (!stored()) localStorage.setItem("fake", JSON.stringify({key, subscription: await window.makeSubscription()}));
    return present();
  };
})()
