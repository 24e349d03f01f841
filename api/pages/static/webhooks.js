// Webhooks: adds and changes them, and shows their secrets, once.

import {call, clearProblem, showProblem} from "./api.js";

const adding = document.getElementById("new-webhook");
const changing = document.getElementById("webhook");
const rotate = document.getElementById("rotate");

adding?.addEventListener("submit", (event) =>
  send(event, adding, async () => {
    const {secret, id} = await call("POST", "/api/v1/me/webhooks", fieldsOf(adding));
    adding.closest("details").open = false;
    showSecret(secret, "The webhook is added.", `/settings/webhooks/${id}`);
  }),
);

changing?.addEventListener("submit", (event) =>
  send(event, changing, async () => {
    const wanted = {...fieldsOf(changing), enabled: changing.elements.enabled.checked};
    await call("PUT", `/api/v1/me/webhooks/${changing.dataset.webhook}`, wanted);
    location.reload();
  }),
);

rotate?.addEventListener("click", (event) =>
  send(event, rotate.parentElement, async () => {
    const {secret, public_key: key} = await call("POST", `/api/v1/me/webhooks/${changing.dataset.webhook}/secrets`, {});
    document.querySelector("code.key").textContent = key;
    showSecret(secret, "There are new keys.");
  }),
);

function fieldsOf(form) {
  const kinds = [...form.querySelectorAll("[name=kinds]:checked")].map((kind) => kind.value);
  return {url: form.elements.url.value.trim(), payload: form.elements.payload.value, kinds};
}

// Sends a change; a refusal is shown at its field.
async function send(event, scope, change) {
  event.preventDefault();
  clearProblem(scope);
  const button = scope.querySelector("button.primary") || rotate;
  button.disabled = true;
  try {
    await change();
  } catch (problem) {
    showProblem(scope, problem);
  }
  button.disabled = false;
}

function showSecret(secret, news, onwards) {
  const [words, code, link] = ["p", "code", "a"].map((name) => document.createElement(name));
  words.textContent = `${news} Its secret for v1 signatures; copy it now: it is shown only once.`;
  code.textContent = secret;
  link.href = onwards;
  link.textContent = "Send a test";
  document.querySelector(".secret").replaceChildren(words, code, ...(onwards ? [link] : []));
}
