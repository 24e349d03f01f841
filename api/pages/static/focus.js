// Keeps the keyboard's place when a part of the page is rendered again.

// Replaces the content of `part`. The focus stays on the same control, or goes where `otherwise()` puts it; what was
// unfolded stays unfolded.
export function replaceContent(part, nodes, otherwise) {
  const focused =
    part.contains(document.activeElement) && part !== document.activeElement ? document.activeElement : null;
  const unfolded = new Set([...part.querySelectorAll("details[open]")].map(named));
  part.replaceChildren(...nodes);
  for (const details of part.querySelectorAll("details")) if (unfolded.has(named(details))) details.open = true;
  if (!focused) return;
  const same = [...part.querySelectorAll(focused.tagName)].find((control) => named(control) === named(focused));
  if (same) same.focus({preventScroll: true});
  else otherwise();
}

function named(control) {
  const {id, name, href, dataset, textContent} = control;
  return (
    id || name || href || dataset.act || dataset.step || (control.querySelector("summary")?.textContent ?? textContent)
  );
}
