// The settings of this device. A field of the form is the data-* attribute of the page that has its name; early.js sets
// these attributes on every page, and style sheets and scripts read them.

const {documentElement: root} = document;
const form = document.getElementById("device-settings");
const said = document.getElementById("device-said");

for (const field of form.elements) {
  const kept = root.dataset[field.name] ?? "";
  if (field.type === "checkbox") field.checked = Boolean(kept);
  else if ([...field.options].some(({value}) => value === kept)) field.value = kept;
}

form.addEventListener("change", ({target}) => {
  const value = target.type === "checkbox" ? (target.checked ? "on" : "") : target.value;
  if (value) root.dataset[target.name] = value;
  else delete root.dataset[target.name];
  try {
    localStorage.device = JSON.stringify({...root.dataset});
    said.textContent = "Kept in this browser.";
  } catch {
    said.textContent = "This browser keeps nothing: the choice holds for this page only.";
  }
  if (target.name === "sounds" && value) import("./sounds.js").then(({play}) => play(["move"]));
});

const keeps = document.getElementById("keeps");
if (keeps) keeps.checked = localStorage.getItem("kept-for") === keeps.dataset.person;
keeps?.addEventListener("change", async () => {
  const told = document.getElementById("keeps-status");
  const {clear, start} = await import("./kept-matches.js");
  try {
    await (keeps.checked ? start(keeps.dataset.person) : clear());
    told.textContent = keeps.checked ? "They are kept on this device." : "Nothing is kept on this device.";
  } catch {
    keeps.checked = false;
    told.textContent = "This browser keeps nothing.";
  }
});
