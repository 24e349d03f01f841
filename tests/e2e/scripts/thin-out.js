() => {
  const numbers = new Map();
  const shows = /^(class|role|hidden|open|disabled|type|data-status|aria-(current|pressed|selected|invalid|disabled))$/;
  const kindOf = (element) => {
    const kinds = new Set();
    for (const child of [...element.children]) {
      const kind = kindOf(child);
      if (kinds.has(kind)) child.remove();
      kinds.add(kind);
    }
    const attributes = [...element.attributes].filter(({name}) => shows.test(name));
    const looks = attributes.map(({name, value}) => `${name}=${value}`);
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const key = JSON.stringify([element.tagName, looks.sort(), hasText, [...kinds].sort()]);
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    return numbers.get(key);
  };
  kindOf(document.body);
}
