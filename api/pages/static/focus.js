// Keeps the keyboard focus when a part of the page is rendered again.

// Replaces the content of `part`. The focus stays on the same control, or goes where `otherwise()` puts it. Open
// disclosures stay open.
export function replaceContent(part, nodes, otherwise) {
  const focused =
    part.contains(document.activeElement) && part !== document.activeElement ? document.activeElement : null;
  const open = new Set([...part.querySelectorAll("details[open]")].map(nameOf));
  part.replaceChildren(...nodes);
  for (const details of part.querySelectorAll("details")) if (open.has(nameOf(details))) details.open = true;
  if (!focused) return;
  const same = [...part.querySelectorAll(focused.tagName)].find((control) => nameOf(control) === nameOf(focused));
  if (same) same.focus({preventScroll: true});
  else otherwise();
}

function nameOf(control) {
  const {id, name, href, dataset, textContent} = control;
  return (
    id || name || href || dataset.act || dataset.step || (control.querySelector("summary")?.textContent ?? textContent)
  );
}
