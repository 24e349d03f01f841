async ([module, cases]) => {
  const {BoardSteps} = await import(module);
  const parsed = (markup) => Object.assign(document.createElement("div"), {innerHTML: markup}).firstElementChild;
  const comparable = (svg) => {
    const faces = new Set([...svg.querySelectorAll("defs > g")].map((face) => `#${face.id}`));
    const lost = [...svg.querySelectorAll("use")].filter((use) => !faces.has(use.getAttribute("href")));
    const copy = svg.cloneNode(true);
    copy.querySelector("defs").replaceChildren();
    return [lost.length, copy.outerHTML];
  };
  const faults = [];
  for (const {name, boards, steps} of cases) {
    const plies = new BoardSteps();
    plies.keep(steps);
    const compare = (svg, ply) => {
      const [[lost, taken], [, drawn]] = [comparable(svg), comparable(parsed(boards[ply]))];
      if (lost || taken !== drawn) faults.push(`${name}, ply ${ply}: ${lost} drawings lost`);
    };
    const last = boards.length - 1;
    const back = parsed(boards[last]);
    const on = parsed(boards[0]);
    for (let ply = last; ply > 0; ply -= 1) {
      plies.take(back, ply, ply - 1);
      compare(back, ply - 1);
      plies.take(on, last - ply, last - ply + 1);
    }
    compare(on, last);
    plies.take(on, last, 1);
    compare(on, 1);
  }
  return faults;
}
