// The keys of the person for signing acts, on the settings page: they are added here; site.js removes them.

import {call, clearProblem, showProblem} from "./api.js";
import {makeDeviceKey, makePasskey} from "./signing.js";

const section = document.getElementById("player-keys");
const form = document.getElementById("new-player-key");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearProblem(section);
  const {name, password, kind} = form.elements;
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const begun = await call("POST", "/api/v1/me/player-key-nonces", {});
    const made =
      kind.value === "passkey"
        ? {passkey: await makePasskey(begun, section.dataset.name)}
        : {device: await makeDeviceKey(begun)};
    await call("POST", "/api/v1/me/player-keys", {
      name: name.value.trim(),
      password: password.value,
      nonce: begun.nonce,
      ...made,
    });
    location.reload();
  } catch (problem) {
    showProblem(form, problem);
  }
  button.disabled = false;
});

const asks = document.getElementById("signs-acts");
asks.addEventListener("change", async () => {
  clearProblem(section);
  const status = document.getElementById("signs-acts-status");
  status.textContent = "";
  try {
    await call("PUT", "/api/v1/me/signing", {signs_acts: asks.checked});
    status.textContent = "Saved.";
  } catch (problem) {
    asks.checked = !asks.checked;
    showProblem(form, problem);
  }
});
