() => {
  // The ratios of WCAG 2.2, 1.4.3: what is below them is listed.
  const channel = (value) => { value /= 255; return value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const parse = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const pixel = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [pixel[0], pixel[1], pixel[2], pixel[3] / 255]);
    }
    return known.get(colour);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour[3] > .99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, noscript, script") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [one, other] = [luminance(parse(style.color)), luminance(behind(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (one + .05) / (other + .05);
    if (ratio < least) poor.push(`${element.tagName} ${walker.currentNode.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}
