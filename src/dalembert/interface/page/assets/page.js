// The page: one clock that animation and plots share, principles to switch, steps that unfold, formulas to copy.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = (id) => { const block = document.getElementById(id); return block ? JSON.parse(block.textContent) : null; };

// ---- light and dark ------------------------------------------------------------------------

const stages = [];
function theme(name) {
  document.documentElement.dataset.theme = name;
  for (const stage of stages) stage.theme();
}
for (const button of $$(".theme"))
  button.addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("dalembert-theme", next); } catch { /* a file may have no storage */ }
    theme(next);
  });

// ---- tabs: principles, groups of plots -----------------------------------------------------

for (const list of $$('[role="tablist"]')) {
  const tabs = $$('[role="tab"]', list);
  const choose = (tab, focus) => {
    for (const other of tabs) {
      const on = other === tab;
      other.setAttribute("aria-selected", on);
      other.tabIndex = on ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !on;
    }
    unpack(document.getElementById(tab.getAttribute("aria-controls")));
    if (focus) tab.focus();
    unpack(document.getElementById(tab.getAttribute("aria-controls")), true);
    document.dispatchEvent(new Event("shown"));
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (e) => {
      const to = { ArrowRight: k + 1, ArrowDown: k + 1, ArrowLeft: k - 1, ArrowUp: k - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      choose(tabs[(to + tabs.length) % tabs.length], true);
    });
  });
}

// ---- long formulas travel compressed and are unfolded on request ----------------

async function inflate(text) {
  const stream = new Blob([Arrays.read(text, Uint8Array)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}
// `folded`: also what is still folded, so that it is there when the page is printed
async function unpack(root, folded = false) {
  for (const place of $$("[data-packed]", root)) {
    if (place.closest("[hidden]") || (!folded && place.closest("details") && !place.closest("details").open)) continue;
    const packed = document.getElementById(place.dataset.packed);
    // another call has it in hand
    if (!packed) continue;
    packed.remove();
    place.innerHTML = await inflate(packed.textContent);
    copyable(place);
    reachable(place.parentElement);
    delete place.dataset.packed;
  }
}
// a printed page shows the derivation by the chosen principle, and everything else that is folded
addEventListener("beforeprint", () => { for (const step of $$("details:not([open])")) { step.open = true; step.dataset.folded = ""; } });
addEventListener("afterprint", () => { for (const step of $$("details[data-folded]")) { step.open = false; delete step.dataset.folded; } });
document.addEventListener("toggle", (e) => { if (e.target.open) unpack(e.target); }, true);

// ---- copy ------------------------------------------------------------------------------------

async function copy(text, button) {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // pages that were opened from a file may not use the clipboard directly
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = words; }, 1200);
}
function copyable(root) {
  for (const formula of $$(".formula, pre", root)) {
    if (formula.parentElement.classList.contains("held")) continue;
    const button = document.createElement("button"), held = document.createElement("div");
    const tex = () => $$('annotation[encoding="application/x-tex"]', formula).map((a) => a.textContent).join("\n");
    const math = formula.classList.contains("formula");
    held.className = "held"; button.className = "copy"; button.type = "button";
    button.textContent = math ? "LaTeX" : "copy";
    button.setAttribute("aria-label", math ? "Copy this formula as LaTeX" : "Copy this text");
    button.addEventListener("click", () => copy(math ? tex() : formula.textContent, button));
    formula.replaceWith(held);
    held.append(formula, button);
  }
}

// what scrolls sideways can be reached by the keyboard
function reachable(root) {
  for (const e of $$(".formula, .statement, pre, table, .scroll, fieldset, p:has(> math)", root)) {
    if (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1) e.tabIndex = 0; else if (e.tabIndex === 0) e.removeAttribute("tabindex");
  }
}

// ---- the clock: everything that shows time listens to it -------------------------------------

class Clock {
  constructor(first, last) { this.first = first; this.last = last; this.time = first; this.chosen = null; this.listeners = []; this.playing = false; this.loop = true; this.endless = false; }
  // seconds of the motion in a second: as chosen, or so that a run takes about eight seconds
  get speed() { return this.chosen ?? this.natural; }
  set speed(x) { this.chosen = x; }
  get natural() {
    const exact = (this.last - this.first) / 8 || 1, power = 10 ** Math.floor(Math.log10(exact));
    // near real time it is real time
    return exact > 0.6 && exact < 1.6 ? 1 : [1, 2, 5, 10].map((k) => k * power).reduce((best, x) => (Math.abs(Math.log(x / exact)) < Math.abs(Math.log(best / exact)) ? x : best));
  }
  // one picture of about two hundred and forty, forward or back
  step(way) { this.play(false); this.set(this.time + way * (this.last - this.first) / 240); }
  on(listener) { this.listeners.push(listener); listener(this.time); }
  set(time) {
    this.time = Math.min(this.last, Math.max(this.first, time));
    for (const listener of this.listeners) listener(this.time);
  }
  play(on) {
    if (on === this.playing) return;
    this.playing = on;
    this.changed?.(on);
    if (!on) return;
    if (this.time >= this.last) this.set(this.first);
    let before = null;
    const step = (now) => {
      if (!this.playing) return;
      if (before !== null) {
        const next = this.time + this.speed * (now - before) / 1000;
        if (next >= this.last && this.endless && this.beyond?.()) { this.playing = false; this.changed?.(false); this.set(this.last); return; }
        this.set(next >= this.last ? (this.loop ? this.first + (next - this.first) % (this.last - this.first || 1) : this.last) : next);
      }
      before = now;
      if (this.time >= this.last && !this.loop) this.play(false);
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}

// ---- a player: stage, buttons, slider --------------------------------------------------------

// `shared`: the renderer of a scene that is no longer shown
function player(root, scene, clock, shared = null) {
  const pace = $('.speed option[value="auto"]', root);
  let named = null;
  const play = $(".play", root), slider = $('input[type="range"]', root), shown = $(".clock", root);
  let stage = null;
  try {
    if (shared) $("canvas", root).replaceWith(shared.canvas);
    stage = new Stage(shared ?? new Renderer($("canvas", root)), $(".labels", root), scene);
    stages.push(stage);
    $(".stage", root).classList.add("live");
  } catch (problem) {
    const note = document.createElement("p");
    note.className = "lacking";
    note.textContent = "3D needs WebGL, which this browser does not offer: a drawing of the start is shown.";
    $(".stage", root).after(note);
  }
  clock.changed = (on) => { root.classList.toggle("playing", on); play.setAttribute("aria-label", on ? "Pause" : "Play"); };
  play.addEventListener("click", () => clock.play(!clock.playing));
  slider?.addEventListener("input", () => { clock.play(false); clock.set(+slider.value); });
  clock.on((time) => {
    const digits = clock.last - clock.first < 1 ? 3 : 2;
    if (slider) { slider.min = clock.first; slider.max = clock.last; slider.value = time; slider.setAttribute("aria-valuetext", `t = ${time.toFixed(digits)}`); }
    if (shown) shown.textContent = `t = ${time.toFixed(digits)}`;
    if (pace && clock.natural !== named) { named = clock.natural; pace.textContent = `≈ ${+((clock.last - clock.first) / named).toPrecision(2)} s (${Charts.label(+named.toPrecision(2))}×)`; }
    stage?.set(time);
  });
  $(".speed", root)?.addEventListener("change", (e) => { clock.speed = e.target.value === "auto" ? null : +e.target.value; });
  for (const button of $$("[data-step]", root)) button.addEventListener("click", () => clock.step(+button.dataset.step));
  const loop = $("[data-loop]", root), endless = $("[data-endless]", root);
  loop?.addEventListener("change", () => { clock.loop = loop.checked; });
  endless?.addEventListener("change", () => { clock.endless = endless.checked; });
  takeaways(root, clock, () => stage);
  if (!stage) return null;
  for (const box of $$("[data-show]", root)) {
    box.checked = stage.show[box.dataset.show];
    if (box.dataset.show === "arrows") $(".legend", root).hidden = !box.checked;
    box.addEventListener("change", () => {
      stage.show[box.dataset.show] = box.checked;
      if (box.dataset.show === "arrows") $(".legend", root).hidden = !box.checked;
      stage.draw();
    });
  }
  const follow = $("[data-follow]", root);
  if (follow) {
    follow.checked = stage.follow;
    follow.addEventListener("change", () => { stage.follow = follow.checked; stage.draw(); });
  }
  $(".camera", root)?.addEventListener("change", (e) => {
    const flat = { front: [0, 0], side: [90, 0], top: [0, 89] }[e.target.value];
    stage.home();
    if (flat) [stage.azimuth, stage.elevation] = flat.map((x) => x * Math.PI / 180);
    stage.draw();
  });
  root.addEventListener("keydown", (e) => {
    if (e.key !== " " || /INPUT|SELECT|BUTTON/.test(e.target.tagName)) return;
    e.preventDefault();
    clock.play(!clock.playing);
  });
  return stage;
}

// ---- pictures and films of the scene -----------------------------------------------------------

function saveBlob(blob, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function takeaways(root, clock, stage) {
  const name = document.title.replace(/ · .*/, "").replace(/[^\w]+/g, "-").toLowerCase() || "motion", on = (action, act) => $(`[data-take=${action}]`, root)?.addEventListener("click", act);
  on("full", () => { if (document.fullscreenElement) document.exitFullscreen(); else root.requestFullscreen?.(); });
  on("png", () => { const s = stage(); if (!s) return; s.paint(); s.canvas.toBlob((blob) => saveBlob(blob, `${name}.png`)); });
  on("svg", () => { const s = stage(); if (s) saveBlob(new Blob([vectorPicture(s)], { type: "image/svg+xml" }), `${name}.svg`); });
  on("link", (e) => copy(location.href, e.target));
  on("film", (e) => film(stage(), clock, name, e.target));
}

// one play of the motion, recorded by the browser
function film(stage, clock, name, button) {
  if (!stage || typeof MediaRecorder !== "function" || !stage.canvas.captureStream) { button.textContent = "not here"; return; }
  const recorder = new MediaRecorder(stage.canvas.captureStream(30)), pieces = [], words = button.textContent, looped = clock.loop, changed = clock.changed;
  recorder.ondataavailable = (e) => pieces.push(e.data);
  recorder.onstop = () => { saveBlob(new Blob(pieces, { type: recorder.mimeType }), `${name}.webm`); button.textContent = words; clock.loop = looped; clock.changed = changed; };
  button.textContent = "recording";
  clock.loop = false; clock.set(clock.first);
  clock.changed = (on) => { changed?.(on); if (!on && recorder.state !== "inactive") recorder.stop(); };
  recorder.start();
  clock.play(true);
}

// ---- tables of more than ten rows are folded ------------------------------------------------------

function fold(root) {
  for (const table of $$("table", root)) {
    const rows = [...table.querySelectorAll("tbody > tr")];
    if (rows.length <= 12 || table.dataset.folded) continue;
    table.dataset.folded = "yes";
    const button = document.createElement("button"), show = (on) => { rows.slice(10).forEach((r) => { r.hidden = !on; }); button.textContent = on ? "Show ten rows" : `Show all ${rows.length} rows`; button.setAttribute("aria-expanded", on); };
    button.type = "button"; button.className = "more";
    button.addEventListener("click", () => show(rows[10].hidden));
    table.after(button);
    show(false);
    addEventListener("beforeprint", () => show(true));
  }
}

// ---- plots -----------------------------------------------------------------------------------

function plots(all, clock) {
  // figures on the screen: only these follow the clock, and only these are drawn again at once
  const times = all.times.map((t) => Arrays.read(t)), seen = all.seen = new Set(), part = (time) => (time - clock.first) / (clock.last - clock.first || 1);
  const write = (x, e) => {
    const y = x / 10 ** e;
    return (Math.abs(y) < 1e-12 ? 0 : y).toPrecision(4).replace("-", "−");
  };
  // the recorded numbers of a plot; `live` holds those of a run that was made here
  for (const plot of all.plots) plot.recorded = () => plot.held ??= { t: times[plot.t], v: plot.v.map((v) => Arrays.read(v)) };
  const showValue = (figure, time, moved = true) => {
    const plot = all.plots[figure.dataset.plot], { t, v } = plot.live ?? plot.recorded();
    if (moved) figure.style.setProperty("--at", part(time));
    for (const out of figure.outputs ??= $$("output", figure)) out.textContent = write(valueAt(t, v[out.dataset.curve], time), plot.now ?? plot.e);
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) { seen.add(target); all.show?.(target); showValue(target, clock.time); } else seen.delete(target);
    }
  });
  for (const figure of $$(".plot[data-plot], [data-modes]")) {
    if (figure.dataset.plot) watch.observe(figure);
    const field = $(".field", figure);
    const go = (e) => {
      const box = field.getBoundingClientRect();
      clock.play(false);
      clock.set(clock.first + (clock.last - clock.first) * (e.clientX - box.left) / box.width);
    };
    field.addEventListener("pointerdown", (e) => { field.setPointerCapture(e.pointerId); go(e); });
    field.addEventListener("pointermove", (e) => { if (e.buttons) go(e); else if (figure.dataset.plot) over(e); });
    // values under the pointer, without moving the clock
    const line = document.createElement("i");
    line.className = "hover"; field.append(line);
    const over = (e) => {
      const box = field.getBoundingClientRect(), at = Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
      line.style.left = `${100 * at}%`; figure.classList.add("hovered");
      showValue(figure, clock.first + (clock.last - clock.first) * at, false);
    };
    field.addEventListener("pointerleave", () => { figure.classList.remove("hovered"); if (figure.dataset.plot) showValue(figure, clock.time); });
  }
  clock.on((time) => { for (const figure of seen) showValue(figure, time); });
  bands(all.modes, clock, part);
}

// what every contact does at the time of the clock
function bands(modes, clock, part) {
  const figure = $("[data-modes]");
  if (!figure || !modes) return;
  const outputs = $$("output", figure);
  clock.on((time) => {
    figure.style.setProperty("--at", part(time));
    for (const out of outputs) { const { t, m } = modes[out.dataset.contact]; out.textContent = m[Math.max(0, t.findLastIndex((begin) => begin <= time))]; }
  });
}

// ---- charts of a study: a click plays the run of that place ------------------------------------

function studyCharts() {
  for (const figure of $$(".study-chart")) {
    const axes = JSON.parse(figure.dataset.axes), field = $(".field", figure), mark = $(".chosen", figure), trial = window.trial;
    if (!trial?.knobs || !axes.every((a) => trial.knobs.some((k) => `${k.group}.${k.name}` === a.key))) continue;
    figure.classList.add("playable");
    field.addEventListener("click", (e) => {
      const box = field.getBoundingClientRect(), part = [(e.clientX - box.left) / box.width, 1 - (e.clientY - box.top) / box.height];
      // a map has cells of equal size, a curve has its values along the axis
      const at = axes.map(({ x }, k) => (axes.length > 1 ? Math.min(x.length - 1, Math.max(0, Math.floor(part[k] * x.length))) : x.reduce((best, v, i) => (Math.abs(v - x[0] - part[0] * (x.at(-1) - x[0])) < Math.abs(x[best] - x[0] - part[0] * (x.at(-1) - x[0])) ? i : best), 0)));
      mark.hidden = false;
      Object.assign(mark.style, axes.length > 1 ? { left: `${100 * at[0] / axes[0].x.length}%`, width: `${100 / axes[0].x.length}%`, top: `${100 * (1 - (at[1] + 1) / axes[1].x.length)}%`, height: `${100 / axes[1].x.length}%` } : { left: `${100 * (axes[0].x[at[0]] - axes[0].x[0]) / (axes[0].x.at(-1) - axes[0].x[0] || 1)}%`, top: 0, height: "100%", width: 0 });
      location.hash = `#try?${axes.map(({ key, x }, k) => `${encodeURIComponent(key)}=${x[at[k]]}`).join("&")}`;
      window.clock.set(window.clock.first); window.clock.play(true);
      $("#player")?.scrollIntoView({ block: "nearest" });
    });
  }
}

// ---- data to take away -------------------------------------------------------------------------

function downloads(table) {
  for (const button of $$(".download"))
    button.addEventListener("click", () => {
      const values = Arrays.read(table.values, Float64Array), n = table.names.length, rows = [table.names.map((name) => name.includes(",") ? `"${name}"` : name).join(",")];
      for (let i = 0; i < values.length; i += n) rows.push(Array.from(values.subarray(i, i + n), String).join(","));
      save(rows, table.file);
    });
}
function save(rows, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- in a notebook: a frame as high as what it holds, dark where the notebook is ---------------

function fitFrame() {
  let frame = null;
  // frames of other origins may not be seen
  try { frame = window.frameElement; } catch { return; }
  if (!frame?.dataset.fit) return;
  const outside = frame.ownerDocument.body, fit = () => {
    const high = `${document.body.scrollHeight + 8}px`;
    for (const box of [frame, frame.parentElement]) if (box.dataset.fit) box.style.minHeight = box.style.height = high;
  };
  if (outside.dataset.jpThemeLight === "false" || outside.classList.contains("vscode-dark")) { theme("dark"); frame.parentElement.style.background = "none"; }
  new ResizeObserver(fit).observe(document.body);
}

// ---- begin: words first, then what moves -------------------------------------------------------

function begin() {
  fitFrame();
  copyable(document);
  fold(document);
  const all = data("plots"), scene = data("scene");
  if (all) {
    const clock = window.clock = new Clock(all.first, all.last);
    plots(all, clock);
    const root = $("#player");
    if (root && scene) window.stage = player(root, scene, clock);
    window.trial = new Trial(all, window.stage ?? null, clock);
  }
  for (const root of $$(".mode")) {
    const clock = new Clock(0, 1);
    const load = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      load.disconnect();
      const shape = data(root.dataset.scene);
      clock.last = shape.period; clock.loop = true; clock.speed = shape.period / 2.5;
      player(root, shape, clock);
    });
    load.observe(root);
  }
  studyCharts();
  const table = data("table");
  if (table) downloads(table);
  unpack(document);
  document.documentElement.dataset.ready = "yes";
  // from now on everything has its true height, so that links to the parts arrive where they should
  const settle = () => { document.documentElement.classList.add("settled"); reachable(document); unpack(document, true).then(() => reachable(document)); };
  addEventListener("resize", () => reachable(document));
  document.addEventListener("shown", () => reachable(document));
  if (window.requestIdleCallback) requestIdleCallback(settle, { timeout: 2000 }); else setTimeout(settle, 300);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => theme(e.matches ? "dark" : "light"));
requestAnimationFrame(() => setTimeout(begin));
