// The terms in the form for a new match: a preset or custom ones, in seconds as the API takes them.

const place = document.getElementById("terms");
const part = (name) => place.querySelector(`[data-part="${name}"]`);
const rated = document.getElementById("rated");
let chosenTakebacks = false;

// Returns the terms of the form.
export function terms() {
  const preset = place.querySelector("[name=preset]:checked").value;
  const control = preset ? JSON.parse(preset) : customControl();
  const ceiling = part("ceiling").value.trim() === "" ? null : seconds("ceiling");
  const wanted = {
    ...control,
    first_move: seconds("first_move"),
    ceiling,
    flag: part("flag").value,
    aids: part("aids").value || null,
  };
  for (const name of ["vacations", "weekends", "takebacks", "lines"]) wanted[name] = part(name).checked;
  return wanted;
}

function customControl() {
  const control = part("control").value;
  const bank = {control, bank: seconds("bank")};
  return control === "bank" ? {...bank, increment: seconds("increment"), cap: seconds("cap")} : bank;
}

function seconds(name) {
  const input = part(name);
  return Math.round(Number(input.value) * Number(input.parentElement.querySelector("[data-unit]").value));
}

function show() {
  const own = place.querySelector("[name=preset]:checked").value === "";
  place.querySelector("[data-own]").hidden = !own;
  for (const name of ["increment", "cap"])
    place.querySelector(`[data-span="${name}"]`).hidden = part("control").value !== "bank";
}

place.addEventListener("change", (event) => {
  if (event.target === part("takebacks")) chosenTakebacks = true;
  show();
});

// Takebacks are usually wanted in unrated matches.
rated.addEventListener("change", () => {
  if (!chosenTakebacks) part("takebacks").checked = !rated.checked;
});

show();
