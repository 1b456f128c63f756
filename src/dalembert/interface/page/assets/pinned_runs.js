// Runs that stay in the plots while others are made: at most three, each with its own dashes.
"use strict";

const MOST_PINS = 3;

class PinnedRuns {
  constructor(panel) {
    Object.assign(this, { panel, runs: [] });
    this.list = $(".pins", panel.root);
    $(".pin", panel.root)?.addEventListener("click", () => this.add());
  }

  // the motion that is shown, as curves by plot
  add() {
    const { panel } = this, { all, result } = panel;
    if (this.runs.length >= MOST_PINS) this.runs.shift();
    const changed = panel.knobs.filter((k) => panel.changed(k)).map((k) => `${panel.data.shown[k.name] ?? k.name} = ${Charts.label(+k.now.toPrecision(4))}`);
    const curves = new Map(all.plots.map((plot) => { const now = (result && plot.live) || (!result && plot.recorded()); return [plot, now || null]; }));
    this.runs.push({ name: (changed.slice(0, 4).join(", ") || "recorded run") + (result?.frames.hand ? ", pulled" : ""), curves });
    this.show();
  }

  sets(plot) { return this.runs.map((run, k) => [run.curves.get(plot), k]).filter(([c]) => c).map(([c, k]) => ({ x: c.t, curves: c.v, pinned: k })); }

  show() {
    this.list.replaceChildren(...this.runs.map((run, k) => {
      const item = document.createElement("li"), away = document.createElement("button");
      item.className = `pinned${k}`; item.textContent = run.name;
      Object.assign(away, { type: "button", className: "undo", textContent: "×" });
      away.setAttribute("aria-label", `Remove the pinned run ${run.name}`);
      away.addEventListener("click", () => { this.runs.splice(k, 1); this.show(); });
      item.append(" ", away);
      return item;
    }));
    this.panel.draw();
  }
}
