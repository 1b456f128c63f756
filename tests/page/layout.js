// What stands where it should not, as the browser laid it out: one sentence for each find.
(() => {
  const faults = [];
  const name = (e) => {
    const held = e.closest("[id]"), kind = e.className && e.className.baseVal === undefined ? `.${String(e.className).split(" ")[0]}` : "";
    return `${held ? `#${held.id} ` : ""}${e.localName}${kind} “${e.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}”`;
  };
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth - root.clientWidth} px wider than the window`);

  // a box of text: the words between two tags, or a whole formula, whose own letters may lie on one another
  const boxes = [];
  const hidden = (e) => !e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const add = (element, rects) => {
    for (const r of rects) if (r.width > 1 && r.height > 1) boxes.push({ element, left: r.left, right: r.right, top: r.top, bottom: r.bottom });
  };
  for (const formula of document.querySelectorAll("math")) if (!hidden(formula)) add(formula, [formula.getBoundingClientRect()]);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, e = node.parentElement;
    if (!node.data.trim() || e.closest("math, script, style, noscript, .labels, .skip, select, .bar") || hidden(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    add(e, range.getClientRects());
  }

  // cut off: beyond an ancestor that neither shows nor scrolls it; what scrolls is cut to what is in sight
  const kept = [];
  for (const box of boxes) {
    let inside = true;
    for (let e = box.element; e && e !== document.body && inside; e = e.parentElement) {
      const style = getComputedStyle(e), r = e.getBoundingClientRect();
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const wide = box.right > r.right + 1 || box.left < r.left - 1, high = box.bottom > r.bottom + 1 || box.top < r.top - 1;
      const cut = (direction) => direction === "hidden" || direction === "clip";
      if ((wide && cut(style.overflowX) && style.textOverflow !== "ellipsis") || (high && cut(style.overflowY))) faults.push(`cut off: ${name(box.element)} by ${name(e)}`);
      box.left = Math.max(box.left, r.left); box.right = Math.min(box.right, r.right);
      box.top = Math.max(box.top, r.top); box.bottom = Math.min(box.bottom, r.bottom);
      inside = box.right - box.left > 1 && box.bottom - box.top > 1;
    }
    if (inside) kept.push(box);
  }

  // two boxes on one another; lines may share the slack above and below their letters
  kept.sort((a, b) => a.top - b.top);
  kept.forEach((a, k) => {
    for (let n = k + 1; n < kept.length && kept[n].top < a.bottom; n++) {
      const b = kept[n];
      if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - b.top;
      if (across > 1.5 && down > 0.3 * Math.min(a.bottom - a.top, b.bottom - b.top)) faults.push(`on one another: ${name(a.element)} and ${name(b.element)}`);
    }
  });

  // rows of one formula: fractions above and below one another keep a gap of half a letter
  for (const table of document.querySelectorAll("math mtable")) {
    if (hidden(table)) continue;
    const gap = 0.5 * parseFloat(getComputedStyle(table).fontSize);
    const rows = [...table.children].map((row) => [...row.querySelectorAll("mfrac")].map((f) => f.getBoundingClientRect()));
    for (let k = 1; k < rows.length; k++)
      for (const a of rows[k - 1])
        for (const b of rows[k])
          if (Math.min(a.right, b.right) > Math.max(a.left, b.left) && b.top - a.bottom < gap) { faults.push(`fractions touch: ${name(table)}`); break; }
  }
  return [...new Set(faults)];
})()
