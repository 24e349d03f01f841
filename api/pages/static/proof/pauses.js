// Long work lets the browser show its progress and react to the reader now and then.

const SHARE_MS = 40;

let since = 0;

// Resolves at once, or, when the last pause was a while ago, after the browser has had its turn.
export function paused() {
  const now = performance.now();
  if (now - since < SHARE_MS) return undefined;
  return new Promise((resolve) => {
    setTimeout(() => {
      since = performance.now();
      resolve();
    });
  });
}
