// Curves drawn again when numbers change: the recorded run pale, the new one on top; and any quantity over any other.
"use strict";

const Charts = {
  WIDTH: 10000, HEIGHT: 3000,

  ticks(low, high, most) {
    const span = high - low;
    if (!(span > 0) || !Number.isFinite(span)) return [low];
    const raw = span / most, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++) found.push(k * step);
    return found;
  },

  label: (x) => String(+(Math.abs(x) < 1e-12 ? 0 : x).toPrecision(6)).replace("-", "−"),

  limits(curves) {
    let low = Infinity, high = -Infinity;
    for (const c of curves) for (const x of c) if (Number.isFinite(x)) { if (x < low) low = x; if (x > high) high = x; }
    if (low > high) [low, high] = [0, 0];
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= 1e-9 * size || size < 1e-300) { const half = size >= 1e-300 ? 0.5 * size : 0.5; low -= half; high += half; }
    const room = 0.08 * (high - low), exponent = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high))));
    return [low - room, high + room, exponent > -3 && exponent < 5 ? 0 : exponent];
  },

  path(x, y, [left, right], [low, high]) {
    let text = "", pen = "M";
    for (let k = 0; k < x.length; k++) {
      if (!Number.isFinite(y[k]) || !Number.isFinite(x[k])) { pen = "M"; continue; }
      text += `${pen}${Math.round(Charts.WIDTH * (x[k] - left) / ((right - left) || 1))} ${Math.round(Charts.HEIGHT * (high - y[k]) / (high - low))}`;
      pen = "L";
    }
    return text;
  },

  // sets: [{ x, curves, pale }]; the field keeps its cursor
  draw(field, sets, across, up, exponent) {
    const size = 10 ** exponent, svg = $("svg", field), make = (name, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      return node;
    };
    const xs = Charts.ticks(...across, 6).filter((x) => x >= across[0] && x <= across[1]), ys = Charts.ticks(up[0] / size, up[1] / size, 4);
    const right = (x) => (x - across[0]) / ((across[1] - across[0]) || 1), down = (y) => (up[1] - y * size) / (up[1] - up[0]);
    for (const old of $$(".x, .y", field)) old.remove();
    const number = (kind, text, place) => { const span = document.createElement("span"); span.className = kind; span.textContent = text; Object.assign(span.style, place); field.prepend(span); };
    for (const y of ys) number("y", Charts.label(y), { top: `${100 * down(y)}%` });
    for (const x of xs) number("x", Charts.label(x), { left: `${100 * right(x)}%` });
    svg.replaceChildren(...ys.map((y) => make("path", { class: "grid", d: `M0 ${Math.round(Charts.HEIGHT * down(y))}H${Charts.WIDTH}` })),
      ...xs.map((x) => make("path", { class: "grid", d: `M${Math.round(Charts.WIDTH * right(x))} 0V${Charts.HEIGHT}` })),
      ...sets.flatMap(({ x, curves, pale, pinned }) => curves.map((y, k) => make("path", { class: `curve c${k % 6}${pale ? " pale" : ""}${pinned === undefined ? "" : ` pinned${pinned}`}`, d: Charts.path(x, y, across, up) }))));
  },
};

// One quantity over another: the recorded motion and the current one, with a dot at the time of the
// clock.
class Phase {
  constructor(root, quantities, clock) {
    Object.assign(this, { root, quantities, clock });
    [this.x, this.y] = $$("select", root);
    for (const select of [this.x, this.y])
      quantities.forEach((q, k) => { const option = document.createElement("option"); option.value = k; option.textContent = q.name; select.append(option); });
    const speed = quantities.findIndex((q) => q.key.startsWith("u:"));
    this.y.value = speed > 0 ? speed : Math.min(quantities.length - 1, 1);
    this.field = $(".field", root); this.dot = $(".dot", root);
    for (const select of [this.x, this.y]) select.addEventListener("change", () => this.draw());
    clock.on(() => this.point());
    this.draw();
  }

  draw() {
    const [a, b] = [this.quantities[this.x.value], this.quantities[this.y.value]], sets = [];
    // curves at different times are brought to those of the first
    const over = (which) => { const p = a[which](), q = b[which](); return p && q ? { x: p.v, curves: [p.t === q.t ? q.v : Array.from(p.t, (t) => valueAt(q.t, q.v, t))], t: p.t } : null; };
    const recorded = over("recorded"), live = over("live");
    if (recorded) sets.push({ ...recorded, pale: Boolean(live) });
    if (live) sets.push(live);
    this.now = live || recorded;
    const [left, right] = Charts.limits(sets.map((s) => s.x)), [low, high, e] = Charts.limits(sets.flatMap((s) => s.curves));
    this.across = [left, right]; this.up = [low, high];
    Charts.draw(this.field, sets, this.across, this.up, e);
    $(".power", this.root).textContent = e ? `in 10^${e}` : "";
    this.point();
  }

  point() {
    if (!this.now) return;
    const { t, x, curves } = this.now, time = this.clock.time;
    this.dot.style.left = `${100 * (valueAt(t, x, time) - this.across[0]) / (this.across[1] - this.across[0])}%`;
    this.dot.style.top = `${100 * (this.up[1] - valueAt(t, curves[0], time)) / (this.up[1] - this.up[0])}%`;
  }
}

function valueAt(t, v, time) {
  let low = 0, high = t.length - 1;
  while (high - low > 1) { const m = (low + high) >> 1; if (t[m] <= time) low = m; else high = m; }
  const part = t[high] > t[low] ? Math.min(1, Math.max(0, (time - t[low]) / (t[high] - t[low]))) : 0;
  return v[low] + (v[high] - v[low]) * part;
}
