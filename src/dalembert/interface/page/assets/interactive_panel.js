// The panel "Try it": a field and a slider for every number that may be changed, runs in a worker, scene and plots that follow.
"use strict";

const LONGEST = 100, LEAST_TOLERANCE = 1e-13;

class Trial {
  constructor(all, stage, clock) {
    Object.assign(this, { all, stage, clock, id: 0, shown: 0, stale: new Set(), over: new AbortController() });
    const { signal } = this.over;
    all.show = (figure) => this.figure(figure);
    addEventListener("beforeprint", () => { for (const figure of [...this.stale]) this.figure(figure); }, { signal });
    this.data = data("live");
    // without data the panel is that of another run, which would never be freed
    this.root = this.data ? $("#trial") : null;
    if ($("#phase")) this.phase = new Phase($("#phase"), this.quantities(), clock);
    const bars = $(".energies");
    if (bars) { this.energyBars = new EnergyBars(bars, (key) => this.energyOf(key)); this.energyBars.use(); clock.on((time) => this.energyBars.set(time)); }
    if (!this.root) return;
    const missing = this.missing();
    if (missing) { this.say(missing); return; }
    this.knobs = this.fields();
    this.build();
    this.pins = new PinnedRuns(this);
    this.history = new RunHistory(this);
    this.worker();
    this.read();
    addEventListener("hashchange", () => { if (location.hash.startsWith("#try")) this.read(); else this.remember(); }, { signal });
    if (stage) this.drag = new Drag(this, stage);
    clock.beyond = () => this.goOn();
  }

  // nothing of this panel is left: another one takes its place
  end() {
    this.over.abort();
    this.w?.terminate();
    if (this.stage) this.stage.grab = null;
    this.clock.beyond = null;
  }

  // what this browser lacks, as a message
  missing() {
    const lacks = [["WebAssembly", typeof WebAssembly === "object"], ["workers", typeof Worker === "function"], ["DecompressionStream", typeof DecompressionStream === "function"]].filter(([, there]) => !there).map(([name]) => name);
    if (lacks.length) return `This browser offers no ${lacks.join(" and no ")}, which new runs need: the recorded run is shown.`;
    return "";
  }

  say(text, bad = false) { const out = $(".status-line", this.root); out.textContent = text; out.classList.toggle("fails", bad); }
  report(text) { this.say(text); }

  // the sentence above the plots belongs to the motion that is shown
  caption(text) {
    for (const p of $$(".caption")) { p.dataset.recorded ??= p.textContent; p.textContent = text ?? p.dataset.recorded; }
  }

  // ---- fields ------------------------------------------------------------------------------

  fields() {
    const d = this.data, knob = (group, name, value, more = {}) => ({ group, name, value, now: value, unit: d.units[name], form: d.forms?.[name] ?? "", meaning: d.meanings?.[name] ?? "", ...more });
    return [
      ...d.starts.map((f, k) => knob("Start", f.name, f.value, { start: k })),
      ...d.constants.map((c) => knob({ input: "Inputs", event: "Events" }[c.kind] ?? "Constants", c.name, c.value, { constant: true })),
      knob("Run", "duration", d.duration, { unit: d.units.t, meaning: "time that is simulated" }),
      knob("Run", "tolerance", d.rtol, { meaning: "relative and absolute tolerance of a step" }),
    ];
  }

  build() {
    const box = $(".knobs", this.root);
    for (const group of ["Start", "Constants", "Inputs", "Events", "Run"]) {
      const mine = this.knobs.filter((k) => k.group === group);
      if (!mine.length) continue;
      const set = document.createElement("fieldset"), legend = document.createElement("legend");
      legend.textContent = group;
      set.append(legend, ...this.grouped(mine));
      box.append(set);
    }
    $(".reset", this.root).addEventListener("click", () => this.reset());
    $(".csv", this.root).addEventListener("click", () => this.csv());
    $(".python", this.root).addEventListener("click", (e) => copy(this.python(), e.target));
    this.root.classList.add("ready");
  }

  // more than twelve constants are grouped by the bodies they belong to
  grouped(mine) {
    const of = (k) => (k.constant && mine.length > 12 && this.data.owners?.[k.name]) || "", owners = [...new Set(mine.map(of))].sort((a, b) => (a ? 0 : 1) - (b ? 0 : 1));
    if (owners.length < 2) return mine.map((k) => this.knob(k));
    return owners.flatMap((owner) => {
      const name = document.createElement("p");
      name.className = "owner"; name.textContent = owner || "several bodies, or none";
      return [name, ...mine.filter((k) => of(k) === owner).map((k) => this.knob(k))];
    });
  }

  knob(k) {
    const row = document.createElement("div"), label = document.createElement("label"), field = document.createElement("input"), slider = document.createElement("input"), fault = document.createElement("p"), name = document.createElement("span"), unit = document.createElement("small");
    const id = `knob-${this.knobs.indexOf(k)}`;
    row.className = "knob"; row.title = k.meaning ?? ""; label.innerHTML = this.data.typeset?.[k.name] ?? ""; if (!label.innerHTML) label.textContent = this.data.shown[k.name] ?? k.name; label.htmlFor = id;
    unit.textContent = k.unit ? ` [${k.unit}]` : ""; unit.id = `${id}-unit`; name.append(label, unit);
    Object.assign(field, { type: "text", inputMode: "decimal", id, value: Trial.brief(k.value), autocomplete: "off", spellcheck: false });
    // spoken as programs call it
    field.setAttribute("aria-label", k.name); if (k.meaning) field.setAttribute("aria-description", k.meaning);
    Object.assign(slider, { type: "range", step: "any" }); if (k.form === "angle") slider.setAttribute("list", "angle-marks");
    slider.setAttribute("aria-label", `${k.name}, slider`);
    Object.assign(fault, { className: "fault", id: `${id}-fault` });
    fault.setAttribute("role", "alert");
    field.setAttribute("aria-describedby", `${unit.id} ${fault.id}`);
    Object.assign(k, { field, slider, fault });
    this.range(k);
    field.addEventListener("input", () => this.typed(k));
    slider.addEventListener("input", () => { if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.clock.play(true); k.field.value = Trial.write(Trial.round(this.slid(k), k)); this.typed(k, true); });
    const back = document.createElement("button");
    Object.assign(back, { type: "button", className: "undo", textContent: "↺", title: `Back to ${Trial.write(k.value)}` });
    back.setAttribute("aria-label", `Reset ${k.name}`);
    back.addEventListener("click", () => { this.last = k; this.put(k, k.value); this.go(); });
    // all digits while the field is edited, selected, so that what is typed replaces them
    field.addEventListener("focus", () => { if (field.value === Trial.brief(k.now) && field.value !== Trial.write(k.now)) { field.value = Trial.write(k.now); field.select(); } });
    field.addEventListener("blur", () => { if (field.value === Trial.write(k.now)) field.value = Trial.brief(k.now); });
    row.append(name, field, slider, back, fault);
    return row;
  }

  static write(x) { return String(+x.toPrecision(15)); }
  // six digits, as many as a field shows
  static brief(x) { const y = +x.toPrecision(6), text = String(y); return text.replace("-", "").length > 9 ? y.toExponential().replace("e+", "e") : text; }
  // three digits of the range are as fine as a hand
  static round(x, k) { if (k.name === "tolerance" && k.group === "Run") return +x.toPrecision(1); const fine = 10 ** (Math.floor(Math.log10(k.span)) - 3); return +(Math.round(x / fine) * fine).toPrecision(12); }

  logarithmic(k) { return (k.group === "Run" && k.name === "tolerance") || k.form === "positive"; }
  slid(k) { return this.logarithmic(k) ? 10 ** +k.slider.value : +k.slider.value; }

  // angles over one turn, positive constants over two decades, damping from zero, others about their value
  range(k) {
    const v = k.now, s = k.slider, mean = k.value, size = Math.abs(mean) || 1;
    if (k.group === "Run" && k.name === "tolerance") { k.span = 1; s.min = -12; s.max = -4; s.value = Math.log10(v); return; }
    if (k.form === "positive") {
      const at = Math.log10(v > 0 ? v : mean), middle = Math.log10(mean);
      k.span = v > 0 ? v : mean; s.min = Math.min(middle - 1, at); s.max = Math.max(middle + 1, at); s.value = at;
      return;
    }
    let [low, high] = k.form === "angle" ? [-Math.PI, Math.PI] : k.form === "damping" ? [0, 4 * size] : k.group === "Run" ? [0.05 * mean, 3 * mean] : k.constant ? [mean - size, mean + size] : [mean - Math.max(size, 1.5), mean + Math.max(size, 1.5)];
    if (v < low) low = v - 0.2 * (high - v); if (v > high) high = v + 0.2 * (v - low);
    k.span = high - low; s.min = low; s.max = high; s.value = v;
  }

  // ---- what is typed -----------------------------------------------------------------------

  typed(k, bySlider = false) {
    this.last = k;
    const { x, problem } = this.numberOf(k, k.field.value);
    k.unread = problem;
    this.blame(k, problem);
    if (problem) { this.say("The last run that was possible is shown."); return; }
    k.now = x;
    if (!bySlider) this.range(k);
    this.go();
  }

  // a number as it was written, or what is wrong with it
  numberOf(k, text) {
    let x;
    try { x = NumberText.read(text, k.unit ?? ""); } catch (problem) { return { problem: problem.message }; }
    return Number.isNaN(x) ? { problem: `“${text.trim()}” is not a number` } : { x, problem: this.refusal(k, x) };
  }

  refusal(k, x) {
    if (!Number.isFinite(x)) return `${k.name} must be a finite number`;
    const most = LONGEST * this.data.duration;
    if (k.group === "Run" && k.name === "duration") return x <= 0 ? "a run goes forward in time: give a positive number of seconds" : x > most ? `a page follows at most ${most} s; da.simulate follows longer motions` : "";
    if (k.group === "Run" && k.name === "tolerance") return x >= LEAST_TOLERANCE && x <= 0.01 ? "" : `give a tolerance between ${LEAST_TOLERANCE} and 0.01`;
    return "";
  }

  blame(k, problem) {
    k.fault.textContent = problem;
    k.field.toggleAttribute("aria-invalid", Boolean(problem));
    if (problem) k.field.setAttribute("aria-invalid", "true");
  }

  changed(k) { return k.now !== k.value; }
  named(group, name) { return this.knobs.find((k) => k.group === group && k.name === name); }

  setting() {
    const values = { ...this.data.values }, starts = this.knobs.filter((k) => "start" in k);
    for (const k of this.knobs) if (k.constant) values[k.name] = k.now;
    return { values, starts: starts.map((k) => k.now), asked: starts.map((k) => this.data.starts[k.start].given || this.changed(k)), duration: this.named("Run", "duration").now, rtol: this.named("Run", "tolerance").now, guess: this.guess ?? null };
  }

  // ---- runs --------------------------------------------------------------------------------

  async worker() {
    const code = new Blob([await inflate($("#engine").textContent)], { type: "text/javascript" });
    const bytes = await new Response(new Blob([Arrays.read($("#module").textContent, Uint8Array)]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    const w = this.w = new Worker(URL.createObjectURL(code));
    w.onmessage = ({ data: found }) => this.heard(found);
    w.onerror = (e) => { e.preventDefault(); this.say("New runs are not possible here: the recorded run is shown.", true); };
    w.postMessage({ module: bytes, data: this.data }, [bytes]);
  }

  heard(found) {
    if (found.pose) { this.drag?.pose(found.pose); return; }
    if (found.pushed) { this.drag?.pushed(found.pushed); return; }
    if (found.pushFault) { this.say(`The body cannot be pulled here (${found.pushFault}).`, true); return; }
    if (found.ready) { this.ready = true; this.root.dataset.ready = "yes"; if (this.waiting) this.go(); return; }
    if (found.broken) { this.say(`New runs are not possible here (${found.broken}): the recorded run is shown.`, true); return; }
    if (found.id < this.id) return;
    if (found.reactions) { if (this.result) { this.result.reactions = found.reactions; this.root.dataset.reactions = found.id; this.follow((key) => key.startsWith("f:")); } return; }
    this.shown = found.id;
    if (found.fault) {
      const at = this.knobs.find((k) => k === this.last && (!found.names || found.names.includes(k.name))) ?? this.knobs.find((k) => found.names && found.names.includes(k.name) && this.changed(k)) ?? this.last ?? this.knobs[0];
      this.blame(at, found.fault);
      this.say("The last run that was possible is shown.");
    } else {
      // what another field holds may still be no number
      for (const k of this.knobs) this.blame(k, k.unread ?? "");
      this.show(found.result);
    }
    document.dispatchEvent(new CustomEvent("tried"));
  }

  go() {
    this.remember();
    if (!this.knobs.some((k) => this.changed(k))) { this.id++; this.shown = this.id; this.recorded(); document.dispatchEvent(new CustomEvent("tried")); return; }
    if (!this.ready) { this.waiting = true; return; }
    this.w.postMessage({ id: ++this.id, setting: this.setting() });
  }

  // ---- positions taken by hand -------------------------------------------------------------

  // the coordinates of the motion that is shown, at a time
  positions(time) {
    const found = Array.from({ length: this.data.n_q }, (_, k) => {
      const v = this.result ? this.values(`q:${k}`) : this.recordedState?.(k);
      return v ? valueAt(v.t, v.v, time) : undefined;
    });
    return found.every((x) => x !== undefined) ? found : null;
  }

  // coordinates of the recorded run, where its plots hold them
  recordedState(k) {
    for (const plot of this.all.plots) { const at = (plot.k ?? []).indexOf(`q:${k}`); if (at >= 0) { const { t, v } = plot.recorded(); return { t, v: v[at] }; } }
    return undefined;
  }

  // one position, shown by itself
  posed({ q, outputs, sizes }) {
    const t = Float64Array.of(this.clock.time);
    this.stage.use(this.scene({ frames: { t, outputs }, sizes }), false);
    this.report(`Start: ${this.knobs.filter((k) => "start" in k && this.data.starts[k.start].q >= 0).slice(0, 4).map((k) => `${this.data.shown[k.name] ?? k.name} = ${Charts.label(+q[this.data.starts[k.start].q].toPrecision(4))}`).join(", ")}`);
  }

  // one position of a body that is pulled, at its time
  pushed({ t, outputs, sizes, work }) {
    const { clock } = this;
    clock.last = Math.max(clock.last, t); clock.set(t);
    this.stage.use(this.scene({ frames: { t: Float64Array.of(t), outputs }, sizes }), false);
    this.report(`Pulled by the pointer; its work: ${this.energyText(work)}`);
  }

  energyText(x) { return `${Charts.label(+x.toPrecision(3))}${this.data.units.t ? " J" : ""}`; }

  // the motion continues without the pointer
  release() { this.w.postMessage({ id: ++this.id, release: true }); }

  // the next run starts at these coordinates, with these rates where it was thrown
  startAt(q, rates) {
    this.guess = q;
    const name = (k) => this.data.state[k];
    for (const k of this.knobs) {
      if (!("start" in k)) continue;
      const f = this.data.starts[k.start];
      const of = f.name.endsWith(".dot") ? this.data.state.indexOf(f.name.slice(0, -4)) : -1;
      const x = f.q >= 0 ? q[f.q] : rates && of >= 0 && of < q.length ? rates[of] : undefined;
      if (x === undefined || name(f.q) === undefined && f.q >= 0) continue;
      this.put(k, f.q >= 0 ? x : +x.toPrecision(3));
    }
    this.go();
    this.clock.set(this.clock.first);
    this.clock.play(true);
  }

  // ---- a run without end: it continues from its last state ------------------------------------

  goOn() {
    if (!this.ready) return false;
    if (!this.result) { this.w.postMessage({ id: ++this.id, setting: this.setting() }); this.continuing = true; return true; }
    const { frames } = this.result, n = frames.t.length - 1, wide = this.data.n_q + this.data.n_u + (this.data.audit ? this.data.audit.count : 0), y = frames.states.subarray(n * wide, n * wide + this.data.n_q + this.data.n_u);
    if (this.result.stopped || this.result.ended) return false;
    this.w.postMessage({ id: ++this.id, setting: this.setting(), from: { q: Array.from(y.subarray(0, this.data.n_q)), u: Array.from(y.subarray(this.data.n_q)), t: frames.t[n] } });
    this.continuing = true;
    return true;
  }

  reset() {
    this.forget();
    this.go();
  }

  forget() {
    this.guess = null;
    for (const k of this.knobs) this.put(k, k.value);
  }

  // another number into a field, without a run
  put(k, x) { k.now = x; k.unread = ""; k.field.value = Trial.brief(x); this.range(k); this.blame(k, ""); }

  recorded() {
    this.result = null;
    this.say("The recorded run.");
    this.caption(null);
    for (const plot of this.all.plots) { plot.live = null; plot.now = undefined; }
    this.history.use(null);
    this.span(this.all.first, this.all.last);
    this.stage?.use(null);
    this.draw();
  }

  span(first, last) {
    const { clock } = this;
    clock.first = first; clock.last = last;
    clock.set(clock.time);
  }

  // ---- what is shown -----------------------------------------------------------------------

  show(result) {
    this.result = result;
    this.series = new Map();
    const { frames } = result, n = frames.t.length;
    for (const plot of this.all.plots) this.renew(plot);
    this.history.use(result);
    this.span(frames.t[0], frames.t[n - 1]);
    this.stage?.use(this.scene(result));
    this.draw();
    const drift = this.values("drift"), worst = drift ? Judgement.largest(drift.v) : null, wrong = Judgement.of(this, result);
    const hand = frames.hand ? `; work of the pointer ${this.energyText(frames.hand[n - 1])}` : "";
    const words = `${Charts.label(frames.t[n - 1] - frames.t[0])} s in ${result.count - 1} steps${hand}${worst === null ? "" : `; relative energy error ${Judgement.size(worst)}`}.`;
    const happened = this.happened(result), upper = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
    const outcome = result.stopped ? `${upper(result.stopped)}. The motion so far is shown: ${words}${happened}` : `${result.ended ? `${upper(result.ended)}: ` : ""}${words}${happened}`;
    this.say([...wrong, outcome].join(" "), Boolean(result.stopped || wrong.length));
    this.root.dataset.judged = wrong.length ? "bad" : "good";
    this.caption(`This motion was computed in the page: ${outcome}`);
    if (result.released !== undefined) { this.clock.set(result.released); this.clock.play(true); }
    if (this.continuing) { this.continuing = false; this.clock.set(this.clock.first); this.clock.play(true); }
  }

  // what happened on the way: how often, and when first
  happened({ events }) {
    const names = [...new Set(events.map((e) => e.name))];
    return names.map((name) => { const each = events.filter((e) => e.name === name); return ` “${name}” (${each[0].how}) ${each.length === 1 ? "" : `${each.length} times, first `}at t = ${Charts.label(each[0].t)}.`; }).join("");
  }

  renew(plot) {
    const found = (plot.k ?? []).map((key) => this.values(key));
    plot.live = found.length && found.every(Boolean) ? { t: found[0].t, v: found.map((f) => f.v) } : null;
  }

  // plots of what was computed later than the rest
  follow(late) {
    for (const key of [...this.series.keys()]) if (late(key)) this.series.delete(key);
    for (const figure of $$(".plot[data-plot]")) {
      const plot = this.all.plots[figure.dataset.plot];
      if (!(plot.k ?? []).some(late)) continue;
      this.renew(plot);
      this.stale.add(figure);
      if (this.all.seen.has(figure)) this.figure(figure);
    }
    this.phase?.draw();
  }

  // a quantity by its key, over its times
  values(key) {
    if (!this.series.has(key)) this.series.set(key, this.made(key));
    return this.series.get(key);
  }

  made(key) {
    const { frames, steps } = this.result, d = this.data, n = d.n_q + d.n_u, riding = d.audit ? d.audit.count : 0, wide = n + riding, out = d.parts.outputs.out, [kind, place] = key.split(":");
    const column = (set, table, width, k) => ({ t: set.t, v: Float64Array.from(set.t, (_, i) => set[table][i * width + k]) });
    if (kind === "q") return column(frames, "states", wide, +place);
    if (kind === "u") return column(frames, "states", wide, d.n_q + +place);
    if (kind === "f") return this.result.reactions ? column({ t: frames.t, reactions: this.result.reactions }, "reactions", d.reactions.terms.length, +place) : null;
    if (kind === "d") { const x = this.values(place), first = this.values("E_Z"); return x && first ? { t: x.t, v: x.v.map((y, i) => y - first.v[i]) } : null; }
    if (kind === "r") return column(steps, "outputs", out, d.outputs.residuals + +place);
    // curves at even times; errors at the steps themselves, between which the polynomials add one of their own
    const set = kind === "drift" ? steps : frames;
    if (kind === "w") { const parts = d.audit.works[+place]; return { t: set.t, v: Float64Array.from(set.t, (_, i) => parts.reduce((sum, k) => sum + set.states[i * wide + n + k], 0)) }; }
    const energy = (k) => column(set, "outputs", out, d.outputs.energies + k).v, [K2, K1, K0, V] = [0, 1, 2, 3].map(energy), rides = (name) => d.audit && d.audit[name] >= 0 ? column(set, "states", wide, n + d.audit[name]).v : new Float64Array(set.t.length), Z = rides("Z"), taken = set.hand ? rides("taken").map((x, i) => x - set.hand[i]) : rides("taken");
    const each = (f) => ({ t: set.t, v: Float64Array.from(set.t, (_, i) => f(i)) });
    const scale = () => Math.max(...K2.map((x, i) => x + Math.abs(V[i] - V[0]) + Math.abs(Z[i]))) || 1;
    switch (kind) {
      case "E_Z": return each((i) => K2[i] + V[i] + Z[i] + taken[i]);
      case "E": return each((i) => K2[i] + V[i]);
      case "H": return each((i) => K2[i] - K0[i] + V[i]);
      case "C": return each((i) => K2[i] + K1[i] + K0[i] + V[i]);
      case "K2": return each((i) => K2[i]);
      case "V": return each((i) => V[i]);
      case "Z": return each((i) => Z[i]);
      case "T": return each((i) => K2[i] + K1[i] + K0[i]);
      case "drift": { const s = scale(), E0 = K2[0] + V[0] + Z[0]; return each((i) => (K2[i] + V[i] + Z[i] + taken[i] - E0) / s); }
      default: return null;
    }
  }

  // every quantity that is plotted, for one over another
  quantities() {
    const found = [];
    for (const figure of $$(".plot[data-plot]")) {
      const plot = this.all.plots[figure.dataset.plot], title = $(".title", figure)?.textContent;
      $$(".key", figure).forEach((key, k) => {
        const words = key.cloneNode(true);
        for (const extra of $$("output, annotation", words)) extra.remove();
        const name = [title, words.textContent.trim()].filter(Boolean).join(": ");
        found.push({ name, key: plot.k?.[k] ?? "", recorded: () => ({ t: plot.recorded().t, v: plot.recorded().v[k] }), live: () => plot.live && { t: plot.live.t, v: plot.live.v[k] } });
      });
    }
    return found;
  }

  // an energy of the motion that is shown, or nothing
  energyOf(key) {
    if (this.result) return this.values(key);
    for (const plot of this.all.plots) { const at = (plot.k ?? []).indexOf(key); if (at >= 0) { const { t, v } = plot.recorded(); return { t, v: v[at] }; } }
    return null;
  }

  // what is on the screen at once, the rest when it comes there
  draw() {
    this.energyBars?.use();
    this.stale = new Set($$(".plot[data-plot]"));
    for (const figure of this.all.seen) this.figure(figure);
    this.phase?.draw();
    this.clock.set(this.clock.time);
  }

  figure(figure) {
    if (!this.stale.delete(figure)) return;
    const plot = this.all.plots[figure.dataset.plot], recorded = plot.recorded(), sets = [{ x: recorded.t, curves: recorded.v, pale: Boolean(this.result) }, ...(this.pins?.sets(plot) ?? [])];
    if (plot.live) sets.push({ x: plot.live.t, curves: plot.live.v });
    const [low, high, e] = Charts.limits(sets.flatMap((s) => s.curves));
    plot.now = e;
    Charts.draw($(".field", figure), sets, [this.clock.first, this.clock.last], [low, high], e);
    figure.classList.toggle("old", Boolean(this.result) && !plot.live);
    const power = $(".power", figure);
    if (power) power.textContent = e ? `in 10^${e}` : "";
  }

  // the numbers of the scene, in the order of its things
  scene({ frames, sizes }) {
    const { stage, data: d } = this, count = frames.t.length, out = d.parts.outputs.out, at = d.outputs;
    const three = (k) => { const r = new Float32Array(3 * count); for (let i = 0; i < count; i++) for (let j = 0; j < 3; j++) r[3 * i + j] = frames.outputs[i * out + k + j]; return r; };
    const places = stage.recorded.places.map((p, k) => ({ ...p, r: three(at.places[k]) }));
    const bodies = stage.recorded.bodies.map((b, k) => {
      const e = at.frames[k] < 0 ? null : this.quaternions(frames, at.frames[k]), r = three(at.centres[k]);
      return { ...b, r, e, sizes: this.sizes(b, k, sizes), bars: this.bars(d.bars[k][0], b, k, frames) };
    });
    const curves = stage.recorded.curves.map((c, k) => ({ ...c, r: at.curves[k].map(three) }));
    const arrows = stage.recorded.arrows.flatMap((a, k) => (at.arrows[k] ? [{ ...a, at: three(at.arrows[k][0]), v: three(at.arrows[k][1]) }] : []));
    stage.renderer.free(this.buffers ?? []);
    this.buffers = stage.data.traces.map((k) => stage.renderer.buffer(stage.spread(places[k].r)));
    return { t: frames.t, places, bodies, curves, arrows, traced: this.buffers };
  }

  // rotation matrices by rows → quaternions (x, y, z, w) that do not jump
  quaternions(frames, k) {
    const count = frames.t.length, out = this.data.parts.outputs.out, found = new Float32Array(4 * count);
    let before = null;
    for (let i = 0; i < count; i++) {
      const m = frames.outputs.subarray(i * out + k, i * out + k + 9), trace = m[0] + m[4] + m[8];
      const size = [1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8], 1 + trace], most = size.indexOf(Math.max(...size));
      const q = [[size[0], m[1] + m[3], m[2] + m[6], m[7] - m[5]], [m[1] + m[3], size[1], m[5] + m[7], m[2] - m[6]], [m[2] + m[6], m[5] + m[7], size[2], m[3] - m[1]], [m[7] - m[5], m[2] - m[6], m[3] - m[1], size[3]]][most];
      const length = Math.hypot(...q) * (before && q.reduce((sum, x, j) => sum + x * before[j], 0) < 0 ? -1 : 1);
      before = q.map((x) => x / length);
      found.set(before, 4 * i);
    }
    return found;
  }

  // declared shapes by their sizes; what was guessed from mass and inertia grows with its radius of gyration
  sizes(b, k, now) {
    const { laws } = this.data, shape = laws.solids[k], body = laws.bodies[laws.drawn[k]], s = shape && shape.sizes.map((i) => now[i]), then = laws.recorded;
    if (shape) return { rod: () => [0.028 * s[0], 0.028 * s[0], s[0] / 2], disk: () => [s[0], s[0], 0.035 * s[0]], sphere: () => [s[0], s[0], s[0]], cylinder: () => [s[0], s[0], s[1] / 2], box: () => [s[0] / 2, s[1] / 2, s[2] / 2] }[shape.shape]();
    const gyration = (x) => body.inertia === undefined ? Math.cbrt(x[body.mass]) : Math.sqrt((x[body.inertia] + x[body.inertia + 1] + x[body.inertia + 2]) / x[body.mass]);
    const ratio = gyration(now) / gyration(then);
    return b.bars.length || !Number.isFinite(ratio) || ratio <= 0 ? b.sizes : b.sizes.map((x) => x * ratio);
  }

  // the ends of bars are places: where these are in the body at the start
  bars(ends, b, k, frames) {
    if (!ends.length) return b.bars;
    const at = this.data.outputs, o = frames.outputs, m = o.subarray(at.frames[k], at.frames[k] + 9), G = o.subarray(at.centres[k], at.centres[k] + 3);
    const local = (p) => { const r = [0, 1, 2].map((j) => o[at.places[p] + j] - G[j]); return [0, 1, 2].map((j) => m[j] * r[0] + m[3 + j] * r[1] + m[6 + j] * r[2]); };
    return ends.filter((_, i) => i % 2 === 0).map((_, i) => [local(ends[2 * i]), local(ends[2 * i + 1])]);
  }

  // ---- to take away ------------------------------------------------------------------------

  // the setting in the address: what differs from the recorded run
  remember() {
    const parts = this.knobs.filter((k) => this.changed(k)).map((k) => `${encodeURIComponent(`${k.group}.${k.name}`)}=${Trial.write(k.now)}`);
    const wanted = parts.length ? `#try?${parts.join("&")}` : "";
    try { if (wanted || location.hash.startsWith("#try")) history.replaceState(null, "", wanted || location.pathname + location.search); } catch { /* some browsers keep the address of a file as it is */ }
  }

  read() {
    const given = new URLSearchParams(location.hash.startsWith("#try?") ? location.hash.slice(5) : "");
    // an address holds all that differs from the recorded run
    this.forget();
    for (const [key, text] of given) {
      const k = this.knobs.find((one) => `${one.group}.${one.name}` === key);
      if (!k) continue;
      k.field.value = text;
      const { x, problem } = this.numberOf(k, text);
      k.unread = problem;
      this.blame(k, problem);
      if (!problem) { this.put(k, x); }
      this.last = k;
    }
    if ([...given].length) this.go(); else this.say("The recorded run. Change a number, or drag: the run follows.");
  }

  csv() {
    const d = this.data, n = d.n_q + d.n_u, riding = d.audit ? d.audit.count : 0;
    if (!this.result) { $(".download").click(); return; }
    const { frames } = this.result, rows = [["t", ...d.state].map((name) => (d.units[name] ? `${name} [${d.units[name]}]` : name)).join(",")];
    frames.t.forEach((t, i) => rows.push([t, ...frames.states.subarray(i * (n + riding), i * (n + riding) + n)].join(",")));
    save(rows, d.file);
  }

  python() {
    const d = this.data, dictionary = (pairs) => `{${pairs.map(([name, x]) => `${JSON.stringify(name)}: ${x}`).join(", ")}}`, asked = this.setting().asked;
    const starts = this.knobs.filter((k) => "start" in k && asked[k.start]).map((k) => [k.name, Trial.write(k.now)]);
    const constants = this.knobs.filter((k) => k.group === "Constants" && (this.changed(k) || k.name in d.given)).map((k) => [k.name, Trial.write(k.now)]);
    const inputs = [...Object.entries(d.inputs).map(([name, text]) => [name, JSON.stringify(text)]), ...this.knobs.filter((k) => k.group === "Inputs").map((k) => [k.name, Trial.write(k.now)])];
    const guess = Object.entries({ ...d.start.guess, ...d.start.bent }).map(([name, [, x]]) => [name, x]), given = [["start", starts], ["guess", guess], ["values", constants], ["inputs", inputs]].filter(([, pairs]) => pairs.length);
    const r = this.named("Run", "tolerance").now, events = d.happening.map(([before, name, after]) => `${before}${name ? this.named("Events", name).now : ""}${after}`).join(", ");
    return `${d.head}\n${this.result?.frames.hand ? "# the page pulled a body by its pointer: that is not repeated here\n" : ""}run = da.simulate(s, ${this.named("Run", "duration").now}${given.map(([name, pairs]) => `, ${name}=${dictionary(pairs)}`).join("")}${events ? `, events=[${events}]` : ""}, rtol=${r}, atol=${r})\nprint(run)\n`;
  }
}
