// JSON requests to the API, and its problems in words. All actions of the pages go through here.

class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || "Something went wrong.");
    this.status = status;
    this.code = body.code || "";
    this.errors = body.errors || {};
  }
}

// Resolves to the body (null when there is none); rejects with a Problem, status 0 when there was no answer.
export async function call(method, path, body, headers = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : {"Content-Type": "application/json"}),
        Accept: "application/json",
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch {
    throw new Problem(0, {
      code: "no-answer",
      detail: "The server cannot be reached. Check the connection and try again.",
    });
  }
  const text = await response.text();
  let answer = null;
  try {
    answer = text ? JSON.parse(text) : null;
  } catch {
    answer = {detail: `The server's answer cannot be read (status ${response.status}).`};
  }
  if (!response.ok) throw new Problem(response.status, answer || {});
  return answer;
}

// Resolves to the value of `send(signer)`; `signer` is null unless this browser has a key of the person (signing.js).
export async function sendSigned(subject, send) {
  try {
    if (!localStorage.getItem(`signs-${document.getElementById("my-matches").dataset.person}`)) return send(null);
  } catch {
    return send(null); // its storage is switched off
  }
  return (await import("./signing.js")).sendWithKey(subject, send);
}

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Shows each message at its field; messages of fields that are not shown go to the general place.
export function showProblem(scope, problem) {
  clearProblem(scope);
  const general =
    scope.querySelector('[data-error-for=""]') || scope.parentElement?.querySelector('[data-error-for=""]');
  const unplaced = [];
  let first = null;
  for (const [field, messages] of Object.entries(problem.errors ?? {})) {
    const place = placeFor(scope, field);
    if (!place) {
      unplaced.push(...messages);
      continue;
    }
    place.textContent = sentence(messages.join(" "));
    const input = inputFor(scope, field, place);
    input?.setAttribute("aria-invalid", "true");
    first = first || input;
  }
  if (general && (unplaced.length || !first))
    general.textContent = unplaced.length ? sentence(unplaced.join(" ")) : problem.message;
  first?.focus();
}

export function clearProblem(scope) {
  for (const place of scope.querySelectorAll("[data-error-for]")) place.textContent = "";
  for (const input of scope.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

function placeFor(scope, field) {
  for (let name = field; name; name = name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "") {
    const places = [...scope.querySelectorAll(`[data-error-for="${CSS.escape(name)}"]`)];
    const shown = places.find((place) => !place.closest("[hidden]"));
    if (shown) return shown;
  }
  return null;
}

function inputFor(scope, field, place) {
  const last = field.slice(field.lastIndexOf(".") + 1);
  return (
    place.parentElement.querySelector(`[data-part="${CSS.escape(last)}"]`) ||
    scope.querySelector(`[name="${CSS.escape(field)}"]`)
  );
}

// Returns the text with a capital letter and a full stop.
export function sentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : text;
}
