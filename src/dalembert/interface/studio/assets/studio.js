// The studio: the newest text goes to the server, parts of its meaning come back one at a time and
// replace what is shown.
"use strict";

const WAIT = 150, LOOK = 2000, OLD = 400;

class Studio {
  constructor() {
    this.token = new URLSearchParams(location.search).get("token") ?? "";
    this.words = data("vocabulary");
    this.editor = new Editor($(".editor"), (text) => this.typed(text));
    this.completion = new Completion(this.editor, this.words);
    this.count = this.shown = this.waiting = 0;
    this.filled = new Map();
    const chooser = $(".principle");
    for (const [name, title] of Object.entries(this.words.principles)) { const o = document.createElement("option"); o.value = name; o.textContent = title; chooser.append(o); }
    chooser.addEventListener("change", () => this.derive());
    this.buttons();
    addEventListener("beforeunload", (e) => { if (this.unsaved) e.preventDefault(); });
    this.begin();
  }

  // ---- the server --------------------------------------------------------------------------

  fetch(action, given = {}, signal = null) {
    return fetch(`/api/${action}`, { method: "POST", headers: { "Content-Type": "application/json", "X-Studio-Token": this.token }, body: JSON.stringify(given), signal });
  }

  async ask(action, given = {}) {
    let answer;
    try { answer = await this.fetch(action, given); } catch { this.note("The studio does not answer: is dalembert studio still running? The text is still here; copy it before the page is closed.", true); return null; }
    const found = await answer.json();
    if (!answer.ok) { this.note(found.error, true); return answer.status === 409 ? { conflict: true } : null; }
    return found;
  }

  // `passing`: gone with the next answer; others stay until something is typed
  note(text, bad = false, passing = false) { this.passing = passing; const p = $(".note"); if (p.textContent !== text) p.textContent = text; p.classList.toggle("fails", bad); }

  async begin() {
    const found = await this.ask("begin");
    if (!found) return;
    this.folder = found.folder;
    this.show(found, found.text);
    document.documentElement.dataset.studio = "ready";
    const look = async () => { if (!document.hidden) await this.look(); setTimeout(look, LOOK); };
    setTimeout(look, LOOK);
  }

  // ---- the text ----------------------------------------------------------------------------

  show({ document: doc, program }, text = doc.text) {
    this.document = doc; this.program = program;
    this.editor.choose(0);
    this.editor.text = text;
    this.fresh();
    this.derive();
  }

  get unsaved() { return this.document && this.editor.text !== this.document.text; }

  fresh() {
    $(".file").textContent = this.program ? `${this.document.path}:${this.program}` : this.document.path;
    $(".file").title = this.folder;
    $(".unsaved").hidden = !this.unsaved;
  }

  typed() {
    this.editor.choose(0);
    this.fresh();
    this.note("");
    clearTimeout(this.waiting);
    // a program is run when it is saved, not while it is typed
    if (this.program) return;
    this.waiting = setTimeout(() => this.derive(), WAIT);
  }

  async derive() {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.busy?.abort();
    const mine = ++this.count, busy = this.busy = new AbortController();
    this.parts = new Map();
    clearTimeout(this.fading);
    this.fading = setTimeout(() => $(".right").classList.add("old"), OLD);
    try {
      const answer = await this.fetch("derive", { text: this.editor.text, file: this.program ? "model.toml" : this.document.path, principle: $(".principle").value, written: `${Date.now()}` }, busy.signal);
      if (!answer.ok) { const found = await answer.json().catch(() => ({})); this.note(found.error ?? `The studio refused the text (${answer.status}).`, true, true); return; }
      await this.listen(answer.body, mine);
    } catch (problem) {
      if (problem.name !== "AbortError") this.note("The studio does not answer: is dalembert studio still running? The text is still here; copy it before the page is closed.", true, true);
    } finally {
      if (mine === this.count) { this.shown = mine; document.documentElement.dataset.shown = mine; }
    }
  }

  async listen(body, mine) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        const part = JSON.parse(rest.slice(0, end));
        rest = rest.slice(end + 1);
        if (mine === this.count) this.take(part);
      }
    }
  }

  // ---- parts of the answer -----------------------------------------------------------------

  take(part) {
    const act = this[`on_${part.part}`];
    if (act) act.call(this, part);
    this.parts.set(part.part, part.cpu);
  }

  on_faults({ faults, name, names, lines }) {
    this.editor.show(faults);
    if (names) { this.completion.names = names; this.places = lines; document.title = `${name} · Studio`; }
    $(".faultlist").replaceChildren(...faults.map((f) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = f.line ? `${f.line}:${f.column}  ${f.sentence}` : f.sentence;
      button.addEventListener("click", () => { if (f.line) this.editor.go(f.line, f.column); });
      item.append(button);
      return item;
    }));
    if (faults.length || this.passing) this.note(faults.some((f) => f.line) ? "The last motion that was possible is shown." : "", false, true);
  }

  on_equations({ html, dof }) {
    clearTimeout(this.fading);
    $(".right").classList.remove("old");
    this.fill(".equationtext", html);
    this.facts({ dof: `<li class="plain"><b>${dof.split(" ")[0]}</b><span></span></li>` });
    $(".facts [data-fact=dof] span").textContent = dof.split(" ").slice(1).join(" ");
  }

  on_rates({ html }) { this.fill(".ratetext", html); }

  // formulas that are shown already stay
  fill(place, html) {
    if (this.filled.get(place) === html) return;
    this.filled.set(place, html);
    $(place).innerHTML = html;
    copyable($(place));
  }

  // facts come one at a time and keep their order
  facts(given) {
    for (const [name, html] of Object.entries(given)) {
      const list = $(".facts"), order = ["dof", "verdict", "energy"];
      for (const old of $$(`[data-fact=${name}]`, list)) old.remove();
      const box = document.createElement("ul");
      box.innerHTML = html;
      const after = order.slice(order.indexOf(name) + 1).map((n) => $(`[data-fact=${n}]`, list)).find(Boolean) ?? null;
      for (const item of [...box.children]) { item.dataset.fact = name; list.insertBefore(item, after); }
    }
  }

  on_verdict({ tone, head, more, table, applicable }) {
    this.facts({ verdict: '<li><b></b><span></span></li>' });
    const item = $("[data-fact=verdict]");
    item.className = tone; $("b", item).textContent = head; $("span", item).textContent = more;
    $(".agreement").innerHTML = table;
    for (const option of $$(".principle option")) option.disabled = !applicable.includes(option.value);
  }

  on_motion({ why, stage, times, data: blocks, energy, stopped, remarks }) {
    const box = $(".remarks");
    box.replaceChildren(...[why ? `Not run: ${why}` : "", stopped ? `The run stopped: ${stopped}` : "", ...(remarks ?? [])].filter(Boolean).map((text) => { const p = document.createElement("p"); p.className = "fails"; p.textContent = text; return p; }));
    if (why) return;
    const before = this.held();
    this.dispose();
    $(".scene").innerHTML = stage; $(".data").innerHTML = blocks;
    this.facts({ energy });
    const scene = data("scene"), clock = window.clock = new Clock(times.first, times.last), root = $("#player");
    window.stage = root && scene ? player(root, scene, clock, this.renderer) : null;
    if (root) root.addEventListener("click", (e) => this.picked(e));
    this.restore(before);
  }

  // plots and sliders come after a pause in the typing; the motion that is shown stays
  on_plots({ plots: grids, data: block }) {
    $(".grids").innerHTML = grids;
    $(".data").insertAdjacentHTML("beforeend", block);
    this.all = data("plots");
    plots(this.all, window.clock);
    window.trial = new Trial(this.all, window.stage, window.clock);
  }

  on_sliders({ panel, live }) {
    $(".try").innerHTML = panel; $(".try").inert = false;
    $(".data").insertAdjacentHTML("beforeend", live.replace(/<script type="application\/octet-stream" id="engine">[\s\S]*?<\/script>/, ""));
    window.trial?.end();
    window.trial = new Trial(this.all, window.stage, window.clock);
  }

  on_failed({ sentence }) { this.note(sentence, true, true); }

  // what the eye and the clock were at, for the next motion of the same model
  held() {
    const { stage, clock } = window;
    return clock && { time: clock.time, playing: clock.playing, chosen: clock.chosen, loop: clock.loop, eye: stage && { azimuth: stage.azimuth, elevation: stage.elevation, zoom: stage.zoom, shift: stage.shift, show: stage.show }, path: this.path };
  }

  restore(before) {
    const { stage, clock } = window, path = this.path = this.document.path;
    if (!before || before.path !== path) return;
    if (stage && before.eye) { Object.assign(stage, before.eye); for (const box of $$("[data-show]", $("#player"))) box.checked = stage.show[box.dataset.show]; }
    clock.chosen = before.chosen; clock.loop = before.loop; clock.set(before.time);
    if (before.playing) clock.play(true);
  }

  // the last motion ends; its renderer draws the next one, and its panel waits for the next sliders
  dispose() {
    const { stage, clock, trial } = window;
    clock?.play(false);
    trial?.end();
    $(".try").inert = true;
    window.stage = window.trial = null;
    if (!stage) return;
    stages.splice(stages.indexOf(stage), 1);
    stage.end();
    this.renderer = stage.renderer.gl.isContextLost() ? null : stage.renderer.clear();
  }

  // a click on a body marks its lines
  picked(e) {
    const stage = window.stage;
    if (!stage?.eye || e.target !== stage.canvas) return;
    const box = stage.canvas.getBoundingClientRect(), m = stage.eye.camera, near = [];
    for (const b of stage.bodies) {
      const p = stage.at(b.r), k = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
      const x = ((m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / k + 1) / 2 * box.width, y = (1 - (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / k) / 2 * box.height;
      near.push([Math.hypot(x - (e.clientX - box.left), y - (e.clientY - box.top)), b.name]);
    }
    near.sort((a, b) => a[0] - b[0]);
    const name = near[0]?.[0] < 0.2 * box.height ? near[0][1] : "", lines = this.places?.[name];
    if (lines) this.editor.choose(...lines); else this.editor.choose(0);
  }

  // ---- files -------------------------------------------------------------------------------

  buttons() {
    const chosen = (select, act) => $(select).addEventListener("change", (e) => { const value = e.target.value; e.target.value = ""; if (value) act(value); });
    $(".save").addEventListener("click", () => this.save());
    $(".saveas").addEventListener("click", () => { const path = prompt("File (ends in .toml or .json)", this.document.path); if (path) this.save(path, path === this.document.path ? this.document.stamp : ""); });
    addEventListener("keydown", (e) => { if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "s") { e.preventDefault(); this.save(); } });
    chosen(".new", (kind) => this.replace("new", { kind }));
    chosen(".open", (path) => this.replace("open", { path }));
    chosen(".insert", (kind) => this.completion.add(kind));
    chosen(".export", (style) => this.take_away("export", { text: this.editor.text, style }));
    $(".aspage").addEventListener("click", () => this.take_away("page", { text: this.editor.text }));
    const menu = $(".open"), fill = async () => {
      const found = await this.ask("names");
      if (!found) return;
      menu.replaceChildren(menu.firstElementChild, ...found.names.map((name) => { const o = document.createElement("option"); o.value = o.textContent = name; return o; }));
    };
    menu.addEventListener("pointerdown", fill); menu.addEventListener("focus", fill);
  }

  async replace(action, given) {
    if (this.unsaved && !confirm("The text is not saved. Leave it?")) return;
    const found = await this.ask(action, given);
    if (found) { this.show(found); this.note(""); }
  }

  async save(path = this.document.path, stamp = this.document.stamp) {
    const text = this.editor.text;
    let found = await this.ask("save", { path, text, stamp });
    if (found?.conflict && confirm(`${path} changed on disk or is there already. Overwrite it?`)) found = await this.ask("save", { path, text, stamp: "*" });
    if (!found?.document) return;
    this.document = found.document;
    this.program = found.program;
    this.fresh();
    this.note(`Saved ${this.folder}/${path}`);
    if (this.program) this.derive();
  }

  async take_away(action, given) {
    this.note("Writing …");
    const found = await this.ask(action, given);
    if (found) this.note(`Written: ${found.written}`);
  }

  // whether the file changed on disk
  async look() {
    let found;
    try { const answer = await this.fetch("state"); found = answer.ok ? await answer.json() : null; } catch { return; }
    if (!found || !found.changed || found.document.path !== this.document.path || this.reportedStamp === found.document.stamp + found.gone) return;
    if (found.gone) { this.reportedStamp = found.document.stamp + found.gone; this.note(`${this.document.path} is not on disk any more; Save writes it again.`, true); return; }
    if (this.unsaved) { this.reportedStamp = found.document.stamp + found.gone; this.note(`${this.document.path} changed on disk, and this text is not saved: Save asks before it overwrites, Open shows the file.`, true); return; }
    const fresh = await this.ask("open", { path: this.document.path });
    if (fresh) { this.show(fresh); this.note(`${this.document.path} changed on disk: its new text is shown.`); }
  }
}

requestAnimationFrame(() => setTimeout(() => { window.studio = new Studio(); }));
