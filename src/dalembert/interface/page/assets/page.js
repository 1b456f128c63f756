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

// ---- long formulas travel compressed and are unfolded when they are asked for ----------------

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
    delete place.dataset.packed;
    place.innerHTML = await inflate(packed.textContent);
    packed.remove();
    copyable(place);
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

// ---- the clock: whoever shows time listens to it ---------------------------------------------

class Clock {
  constructor(first, last) { this.first = first; this.last = last; this.time = first; this.speed = 1; this.listeners = []; this.playing = false; }
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
        this.set(next >= this.last ? (this.loop ? this.first + (next - this.first) % (this.last - this.first) : this.last) : next);
      }
      before = now;
      if (this.time >= this.last && !this.loop) this.play(false);
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}

// ---- a player: stage, buttons, slider --------------------------------------------------------

function player(root, scene, clock) {
  const play = $(".play", root), slider = $('input[type="range"]', root), shown = $(".clock", root);
  let stage = null;
  try {
    stage = new Stage($("canvas", root), $(".labels", root), scene);
    stages.push(stage);
    $(".stage", root).classList.add("live");
  } catch (problem) {
    const said = document.createElement("p");
    said.className = "lacking";
    said.textContent = "3D needs WebGL, which this browser does not offer: a drawing of the start is shown.";
    $(".stage", root).after(said);
  }
  clock.changed = (on) => { root.classList.toggle("playing", on); play.setAttribute("aria-label", on ? "Pause" : "Play"); };
  play.addEventListener("click", () => clock.play(!clock.playing));
  slider?.addEventListener("input", () => { clock.play(false); clock.set(+slider.value); });
  clock.on((time) => {
    const digits = clock.last - clock.first < 1 ? 3 : 2;
    if (slider) { slider.min = clock.first; slider.max = clock.last; slider.value = time; slider.setAttribute("aria-valuetext", `t = ${time.toFixed(digits)}`); }
    if (shown) shown.textContent = `t = ${time.toFixed(digits)}`;
    stage?.set(time);
  });
  $(".speed", root)?.addEventListener("change", (e) => { clock.speed = +e.target.value; });
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
  const tell = (figure, time) => {
    const plot = all.plots[figure.dataset.plot], { t, v } = plot.live ?? plot.recorded();
    figure.style.setProperty("--at", part(time));
    for (const out of figure.outputs ??= $$("output", figure)) out.textContent = write(valueAt(t, v[out.dataset.curve], time), plot.now ?? plot.e);
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) { seen.add(target); all.show?.(target); tell(target, clock.time); } else seen.delete(target);
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
    field.addEventListener("pointermove", (e) => { if (e.buttons) go(e); });
  }
  clock.on((time) => { for (const figure of seen) tell(figure, time); });
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

// ---- begin: words first, then what moves -------------------------------------------------------

function begin() {
  copyable(document);
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
  const table = data("table");
  if (table) downloads(table);
  unpack(document);
  document.documentElement.dataset.ready = "yes";
  // from now on everything has its true height, so that links to the parts arrive where they should
  const settle = () => { document.documentElement.classList.add("settled"); unpack(document, true); };
  if (window.requestIdleCallback) requestIdleCallback(settle, { timeout: 2000 }); else setTimeout(settle, 300);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => theme(e.matches ? "dark" : "light"));
requestAnimationFrame(() => setTimeout(begin));
