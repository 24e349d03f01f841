// Makes the secret address of feeds on the settings page, and shows it once.

import {call, clearProblem, showProblem} from "./api.js";

const section = document.getElementById("feeds");
const button = document.getElementById("make-feed-address");

button.addEventListener("click", async () => {
  clearProblem(section);
  button.disabled = true;
  try {
    const {deadlines, matches, match} = await call("POST", "/api/v1/me/feed-address", {});
    const told = document.createElement("p");
    told.className = "notice";
    told.textContent = "Copy these now: they are shown only once. Earlier ones no longer work.";
    document
      .getElementById("feed-address")
      .replaceChildren(
        told,
        shown("Your deadlines, for a calendar", deadlines),
        shown("What you are told of, for a feed reader", matches),
        shown("One match, for a feed reader; put its id in the place of {match}", match),
      );
  } catch (problem) {
    showProblem(section, problem);
  }
  button.disabled = false;
});

function shown(label, address) {
  const [line, code] = ["p", "code"].map((tag) => document.createElement(tag));
  code.textContent = address;
  line.append(`${label}:`, document.createElement("br"), code);
  return line;
}
