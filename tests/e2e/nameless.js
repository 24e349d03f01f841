() => [...document.querySelectorAll("button, input, select, a[href], [role=button]")]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()))
  .map((each) => each.outerHTML.slice(0, 120))
