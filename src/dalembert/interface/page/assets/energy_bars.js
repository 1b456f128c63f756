// Kinetic energy, potential energy and what the loads took, as bars at the time of the clock.
"use strict";

class EnergyBars {
  // series: key → { t, v } or null
  constructor(root, series) {
    Object.assign(this, { root, series, bars: [] });
    root.replaceChildren();
    for (const [keys, letter, title] of [[["K2", "T"], "K", "Kinetic energy"], [["V"], "V", "Potential energy"], [["Z"], "Z", "Work against the loads"]]) {
      const bar = document.createElement("span"), fill = document.createElement("i"), name = document.createElement("b");
      name.textContent = letter; bar.title = title;
      bar.append(fill, name);
      root.append(bar);
      this.bars.push({ keys, bar, fill });
    }
  }

  // another motion: its energies and their common scale
  use() {
    let low = 0, high = 0;
    for (const b of this.bars) {
      b.found = b.keys.map((key) => this.series(key)).find(Boolean) ?? null;
      b.bar.hidden = !b.found;
      if (b.found) { b.zero = b.keys[0] === "V" ? Math.min(...b.found.v) : 0; for (const x of b.found.v) { low = Math.min(low, x - b.zero); high = Math.max(high, x - b.zero); } }
    }
    this.low = low; this.size = high - low || 1;
    this.root.classList.toggle("empty", !this.bars.some((b) => b.found));
  }

  set(time) {
    for (const b of this.bars) {
      if (!b.found) continue;
      const x = valueAt(b.found.t, b.found.v, time) - b.zero, from = (Math.min(0, x) - this.low) / this.size;
      b.fill.style.bottom = `${100 * from}%`; b.fill.style.height = `${100 * Math.abs(x) / this.size}%`;
    }
  }
}
