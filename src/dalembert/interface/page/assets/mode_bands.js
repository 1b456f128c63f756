// What happened in the run that is shown: the events as a table, the modes of contacts as bands.
"use strict";

const MOST_TABLE_ROWS = 60;

class RunHistory {
  constructor(panel) {
    const modes = $("[data-modes]");
    Object.assign(this, { panel, figure: modes, layout: panel.data.contacts?.bands, spans: panel.all.modes?.slice() });
    this.places = [$(".events"), modes && $("#mode-bands"), modes && $(".legend", modes), modes && $("details", modes)].filter(Boolean);
    this.recorded = this.places.map((place) => [...place.childNodes]);
  }

  // of a run in the page, or of the recorded one
  use(result) {
    this.places.forEach((place, k) => place.replaceChildren(...this.recorded[k]));
    this.spans?.forEach((span, k) => { this.panel.all.modes[k] = span; });
    if (!result) return;
    this.events(result.events);
    if (this.figure && this.layout && result.modes) this.bands(result.modes, result.frames.t[0], result.frames.t.at(-1));
  }

  static table(heads, rows) {
    const table = document.createElement("table"), line = (cells, kind) => { const row = document.createElement("tr"); for (const text of cells) { const cell = document.createElement(kind); cell.textContent = text; row.append(cell); } return row; };
    table.append(line(heads, "th"), ...rows.slice(0, MOST_TABLE_ROWS).map((row) => line(row, "td")));
    return table;
  }

  // how often, first and last, and the energy that it took or gave
  events(events) {
    const place = $(".events"), groups = new Map();
    if (!place) return;
    for (const e of events) { const key = JSON.stringify([e.name, e.how]); groups.set(key, [...(groups.get(key) ?? []), e]); }
    const rows = [...groups.values()].map((all) => { const energy = all.reduce((sum, e) => sum + (e.energy ?? 0), 0); return [all[0].name, all[0].how, all.length, Charts.label(+all[0].t.toPrecision(9)), all.length > 1 ? Charts.label(+all.at(-1).t.toPrecision(9)) : "", energy ? Charts.label(+energy.toPrecision(3)) : ""]; });
    place.replaceChildren(...(rows.length ? [RunHistory.table(["event", "what happens", "times", "first, t", "last, t", "energy"], rows)] : []));
  }

  bands(records, first, last) {
    const { layout: { width, step, styles }, panel: { data, all } } = this, { names, texts } = data.contacts, words = [], there = new Set();
    const drawn = names.map((name, k) => {
      const spans = [];
      records.forEach(({ t, modes }, i) => {
        const text = texts[modes[k]], end = records[i + 1]?.t ?? last;
        if (spans.at(-1)?.text === text) spans.at(-1).end = end;
        else if (end > t || !spans.length) spans.push({ t, end, text });
      });
      all.modes[k] = { t: spans.map((s) => s.t), m: spans.map((s) => s.text) };
      const paths = {}, x = (t) => Math.round(width * (t - first) / ((last - first) || 1));
      for (const { t, end, text } of spans) {
        const { kind, down, high } = styles[text], a = x(t), b = x(end);
        there.add(text);
        words.push([name, Charts.label(+t.toPrecision(6)), Charts.label(+end.toPrecision(6)), text]);
        if (b > a) paths[kind] = `${paths[kind] ?? ""}M${a} ${step * k + down}h${b - a}v${high}h${a - b}z`;
      }
      return Object.entries(paths).map(([kind, d]) => `<path class="${kind}" d="${d}"/>`).join("");
    });
    $("#mode-bands").innerHTML = drawn.join("");
    $(".legend", this.figure).innerHTML = Object.entries(styles).filter(([text]) => there.has(text)).map(([, { kind, down, high, words: meaning }]) => `<span><svg viewBox="0 0 16 10" aria-hidden="true"><path class="${kind}" d="M0 ${down}h16v${high}h-16z"/></svg>${meaning}</span>`).join("");
    const details = $("details", this.figure);
    details.replaceChildren($("summary", details), RunHistory.table(["contact", "from", "to", "what it does"], words));
  }
}
