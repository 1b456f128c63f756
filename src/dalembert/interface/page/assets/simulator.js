// A run inside the page: memory for the module's structures, the loop in slices, and the motion at any time.
"use strict";

const LANES = 4, DENSE_ROWS = 8;
const padded = (n) => Math.ceil(n / LANES) * LANES;
const EXIT = { END: 0, FULL: 1, BUDGET: 2, STOPPED: 3, EVENT: 4 };
const WHY = {
  1: "the error of a step exceeds the tolerance",
  2: "accelerations or speeds became infinite there: a singular position, or a load without a finite value",
  3: "the equations of motion have no solution there",
  4: "no position near the end of the step satisfies the constraints",
};
const MOST_NUMBERS = 2.5e7;

class Structure {
  constructor(engine, fields) {
    this.engine = engine; this.fields = fields; this.at = engine.room(fields.length);
    this.place = Object.fromEntries(fields.map(([name, kind], k) => [name, [this.at + 8 * k, kind]]));
  }
  set(values) {
    for (const [name, x] of Object.entries(values)) {
      const [at, kind] = this.place[name];
      if (kind === "f") this.engine.f64[at / 8] = x;
      else { this.engine.i32[at / 4] = x; this.engine.i32[at / 4 + 1] = x < 0 ? -1 : 0; }
    }
  }
  clear() { this.engine.f64.fill(0, this.at / 8, this.at / 8 + this.fields.length); }
  get(name) { const [at, kind] = this.place[name]; return kind === "f" ? this.engine.f64[at / 8] : this.engine.i32[at / 4]; }
}

class Engine {
  constructor(module, data) {
    this.data = data;
    this.memory = new WebAssembly.Memory({ initial: 16 });
    this.table = new WebAssembly.Table({ initial: 64, element: "anyfunc" });
    this.top = 1 << 17;
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, 1 << 17);
    const names = ["sin", "cos", "exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2"];
    this.recorded = new Map(Object.entries(data.tables ?? {}).map(([name, text]) => [data.values[name], Engine.numbersOf(text)]));
    const env = { __linear_memory: this.memory, table_interval: (t, h) => this.interval(t, h), table_lookup: (k, h) => this.lookup(k, h), __indirect_function_table: this.table, __stack_pointer: stack, ...Object.fromEntries(names.map((f) => [f, Math[f]])) };
    this.call = new WebAssembly.Instance(module, { env }).exports;
    this.indices = new Map();
    this.views();
    this.prepare();
  }

  // ---- recorded tables ---------------------------------------------------------------------

  static numbersOf(text) { return new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer); }

  // the number of entries that are ≤ t of the array with handle h
  interval(t, h) {
    const a = this.recorded.get(h);
    if (!a || Number.isNaN(t)) return NaN;
    let low = -1, high = a.length;
    while (high - low > 1) { const middle = (low + high) >> 1; if (a[middle] <= t) low = middle; else high = middle; }
    return high;
  }

  lookup(k, h) { const a = this.recorded.get(h); return a && !Number.isNaN(k) ? a[Math.max(0, Math.min(a.length - 1, k))] : NaN; }

  // knots between two times as the loop takes them: where the first part ends, and for each knot the time behind it and the next end
  breaks(t, end) {
    const ulp = (x) => 2 ** (Math.floor(Math.log2(Math.abs(x) || 1e-300)) - 52);
    const all = (this.data.knots ?? []).flatMap((name) => Array.from(this.recorded.get(this.data.values[name])));
    const inside = [...new Set(all)].filter((x) => t + 64 * ulp(x) < x && x < end - 64 * ulp(x)).sort((a, b) => a - b);
    const apart = inside.filter((x, k) => !k || x - inside[k - 1] > 64 * ulp(x));
    if (!apart.length) return { t_end: end, n_breaks: 0 };
    if (!(this.breakRoom >= apart.length)) { this.breakRoom = apart.length; this.breakTimes = this.room(2 * apart.length); }
    apart.forEach((x, k) => { const next = apart[k + 1]; this.f64[this.breakTimes / 8 + 2 * k] = x + 4 * ulp(x); this.f64[this.breakTimes / 8 + 2 * k + 1] = next === undefined ? end : next - 4 * ulp(next); });
    return { t_end: apart[0] - 4 * ulp(apart[0]), n_breaks: apart.length, breaks: this.breakTimes };
  }

  // ---- memory ------------------------------------------------------------------------------

  views() { this.f64 = new Float64Array(this.memory.buffer); this.i32 = new Int32Array(this.memory.buffer); }

  room(numbers) {
    const at = this.top;
    this.top += Math.ceil(Math.max(numbers, 1) / 8) * 64;
    const missing = this.top - this.memory.buffer.byteLength;
    if (missing > 0) { this.memory.grow(Math.ceil(missing / 65536)); this.views(); }
    return at;
  }

  // a function of the module as an address
  pointer(name) {
    if (!this.indices.has(name)) { this.indices.set(name, this.indices.size + 1); this.table.set(this.indices.size, this.call[name]); }
    return this.indices.get(name);
  }

  numbers(at, count) { return this.f64.subarray(at / 8, at / 8 + count); }

  prepare() {
    const { data } = this, n = this.n = data.n_q + data.n_u;
    this.riding = data.audit ? data.audit.count : 0;
    this.width = padded(n + this.riding);
    this.parts = Object.fromEntries(Object.entries(data.parts).map(([name, part]) =>
      [name, { ...part, name, at: { p: this.room(part.p.length), work: this.room(part.work + 8), out: this.room(padded(part.out)) } }]));
    const m = data.rows ? data.rows.m : 0;
    this.x = this.room(n + LANES + m);
    this.context = new Structure(this, data.fields.context);
    this.run = new Structure(this, data.fields.run);
    this.work = this.room(data.work.rows * this.width);
    this.middle = this.room(this.width);
    this.projected = this.room(this.width);
    this.step = this.room(this.width * DENSE_ROWS);
    this.between = this.room(this.width);
    if (data.rows) this.rowSolver = this.solver(data.rows);
    this.capacity = Math.max(16, Math.min(512, Math.floor(200000 / (DENSE_ROWS * this.width))));
    this.points = { times: this.room(this.capacity), states: this.room(this.capacity * this.width), dense: this.room(this.capacity * this.width * DENSE_ROWS) };
    this.probe = this.room(2 * this.width);
    this.wide = this.room(n + 1 + data.n_u + LANES);
    this.initial = new InitialConditions(this);
    this.system = { size: 0 };
    if (data.events) this.happenings = new Happenings(this);
    if (data.contacts) this.contacts = new Contacts(this);
  }

  // the memory of the solver for rows in augmented form
  solver(rows) {
    const s = new Structure(this, this.data.fields.rows), wide = Math.max(rows.m, 1), index = this.room(rows.index.length), block = this.room(rows.parts.end);
    rows.index.forEach((k, i) => { this.i32[index / 4 + 2 * i] = k; this.i32[index / 4 + 2 * i + 1] = 0; });
    this.order = this.room(wide);
    const at = { ends: this.room(2 * (rows.n_q + rows.n + 1)), came: this.room(rows.n_q), block, index, order: this.order, outs: this.room(rows.index.length), x: this.room(rows.n_q + rows.n + LANES), seen: this.room(wide * rows.width), keep: this.room(wide) };
    for (const name of ["h", "inverse"]) at[name] = this.room(rows.width);
    for (const name of ["w", "c", "diagonal", "tau", "scale", "lengths", "sizes", "rho"]) at[name] = this.room(Math.max(rows.row_width, LANES));
    for (const [name, offset] of Object.entries(rows.parts)) if (name !== "end") at[name] = block + 8 * offset;
    this.places = at;
    this.remembered = [block / 8, this.top / 8];
    return s;
  }

  // the numbers of the parameters, and what depends on them alone
  give(values) {
    for (const part of Object.values(this.parts)) {
      part.p.forEach((name, k) => { this.f64[part.at.p / 8 + k] = values[name]; });
      this.call[`${part.name}.prologue`](part.at.p, part.at.work);
    }
  }

  evaluate(name, q, u, t) {
    const part = this.parts[name], x = this.numbers(this.x, this.n + 1);
    x.set(q); x.set(u, this.data.n_q); x[this.n] = t;
    this.call[name](this.x, part.at.p, part.at.out, part.at.work);
    return this.numbers(part.at.out, part.out).slice();
  }

  // the x of least norm among those nearest to A x = b, by the module; singular values below a part
  // of the largest count as zero, and |x| stays within a radius
  leastSquares(A, b, n, part = 1e-10, radius = -1) {
    const m = A.length, size = m * (n + 1) + m * (n + 1 + m) + n;
    if (!m || !n) return new Array(n).fill(0);
    if (this.system.size < size) this.system = { size, at: this.room(size) };
    const { at } = this.system, x = at + 8 * (size - n);
    A.forEach((row, k) => { const line = this.numbers(at + 8 * k * (n + 1), n + 1); line.set(row); line[n] = b[k]; });
    this.call["initial.least"](at, at + 8 * m * (n + 1), BigInt(m), BigInt(n), part, radius, x);
    return Array.from(this.numbers(x, n));
  }

  // ---- what must be so ---------------------------------------------------------------------

  check(values) {
    const zero = new Array(this.n).fill(0), laws = this.data.laws, found = this.evaluate("properties", zero.slice(0, this.data.n_q), zero.slice(this.data.n_q), 0);
    const given = (names) => names.map((name) => `${name} = ${values[name]}`).join(", ");
    for (const b of laws.bodies) {
      if (b.of.length && !(found[b.mass] > 0)) throw new BadSetting(`${given(b.of)}: the mass of “${b.name}” is ${found[b.mass]}; a mass must be positive`, b.of);
      if (!b.axes || !b.axes.length || !b.from.length) continue;
      const [xx, yy, zz, xy, yz, xz] = found.subarray(b.inertia, b.inertia + 6);
      const least = b.axes.length === 1 ? [xx, yy, zz][b.axes[0]] : Engine.leastMoment(xx, yy, zz, xy, yz, xz);
      if (least < -1e-7 * Math.max(xx, yy, zz)) throw new BadSetting(`${given(b.from)}: the inertia of “${b.name}” has a negative principal moment (${least.toPrecision(3)})`, b.from);
    }
    for (const m of laws.members)
      if (m.of.length && !(found[m.at] > 0)) throw new BadSetting(`${given(m.of)}: the ${m.what} of ${m.kind} is ${found[m.at]}; it must be positive`, m.of);
    return found;
  }

  // the smallest root of the characteristic polynomial of a symmetric matrix, to half the digits;
  // the largest one for angle 0
  static leastMoment(xx, yy, zz, xy, yz, xz, angle = 2 * Math.PI / 3) {
    const mean = (xx + yy + zz) / 3, a = xx - mean, b = yy - mean, c = zz - mean;
    const p = Math.sqrt((a * a + b * b + c * c + 2 * (xy * xy + yz * yz + xz * xz)) / 6);
    if (p === 0) return mean;
    const det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    return mean + 2 * p * Math.cos(Math.acos(Math.max(-1, Math.min(1, det / (2 * p ** 3)))) / 3 + angle);
  }

  // ---- the run -----------------------------------------------------------------------------

  // setting: { values: {name: number}, starts: [number], asked: [bool], duration, rtol }
  begin(setting) {
    const { t } = this.data.start;
    this.give(setting.values);
    this.sizes = this.check(setting.values);
    const start = { ...this.initial.solve(setting.asked, setting.starts, setting.guess ?? null), t };
    this.happenings?.set(setting, start);
    return start;
  }

  resume(setting, from) {
    this.give(setting.values);
    this.sizes = this.check(setting.values);
    this.happenings?.set(setting, from);
    return from;
  }

  set(start, setting) {
    for (const s of this.data.spans ?? []) if (start.t < s.from || start.t + setting.duration > s.to) throw new BadSetting(`${s.name}: its table goes from t = ${s.from} to ${s.to}; make the run shorter`, ["duration"]);
    const { data, n, parts } = this, t1 = start.t + setting.duration, groups = this.width / LANES, rows = data.rows;
    const context = { n_state: n, tolerance: 1e-13, jump: -1, Z: -1, defect: -1, x: this.x };
    let project = false;
    if (rows) { project = this.bind(rows, start, context, setting.rtol); } else {
      Object.assign(context, { f: this.pointer("rates"), p: parts.rates.at.p, work: parts.rates.at.work });
      const back = parts.projection;
      if (back) Object.assign(context, { projection: this.pointer("projection"), projection_work: back.at.work, result: back.at.out, n_coordinates: back.out - 1 });
      project = Boolean(back);
    }
    let autonomous = data.autonomous;
    if (data.audit) {
      const a = data.audit;
      context.audit_p = parts.energy.at.p;
      if (parts.audit) { Object.assign(context, { audit: this.pointer("audit"), audit_work: parts.audit.at.work }); autonomous &&= a.autonomous; }
      Object.assign(context, { Z: a.Z < 0 ? -1 : n + a.Z, jump: a.jump < 0 ? -1 : n + a.jump, width: this.width, middle: this.middle });
      if (a.jump >= 0) Object.assign(context, { energy: this.pointer("energy"), energy_work: parts.energy.at.work, energy_result: parts.energy.at.out });
    }
    this.context.clear(); this.context.set(context);
    const w = this.numbers(this.work, data.work.rows * this.width), row = (name) => data.work[name] * this.width;
    w.fill(0);
    w.set(start.q, row("y")); w.set(start.u, row("y") + data.n_q);
    w.fill(1, row("atol"), row("atol") + this.width);
    w.fill(setting.rtol, row("atol"), row("atol") + n);
    w.fill(1, row("in_norm"), row("in_norm") + n);
    this.run.clear();
    this.run.set({ rhs: this.pointer(autonomous ? "rhs_without_time" : "rhs"), project: project ? this.pointer("project") : 0, context: this.context.at, work: this.work,
      ...this.points, groups, norm_groups: Math.ceil(n / LANES), n_norm: n, capacity: this.capacity, stored: 1,
      t: start.t, h_max: t1 - start.t, rtol: setting.rtol, ...this.breaks(start.t, t1), ...this.eyes });
    this.f64[this.points.times / 8] = start.t;
    this.numbers(this.points.states, this.width).set(w.subarray(row("y"), row("y") + this.width));
  }

  bind(rows, start, context, rtol) {
    const { parts } = this, s = this.rowSolver, multipliers = this.x + 8 * (this.n + 1), { straight, back } = parts, [first, least, most] = rows.sines;
    // nothing of an earlier run: the longest rows it saw, and when
    this.f64.fill(0, ...this.remembered);
    for (let j = 0; j < Math.max(rows.m, 1); j++) { this.i32[this.order / 4 + 2 * j] = j; this.i32[this.order / 4 + 2 * j + 1] = 0; }
    s.clear();
    s.set({ ...this.places, n_q: rows.n_q, n: rows.n, m: rows.m, cap: rows.cap, groups: rows.width / LANES, row_groups: rows.row_width / LANES, holding: 1,
      massless: rows.massless, quaternions: rows.quaternions, curved: rows.curved, p: parts.fill.at.p, fill: this.pointer("fill"), fill_work: parts.fill.at.work,
      move: this.pointer("move"), move_work: parts.move.at.work, count: rows.index.length, block_groups: rows.parts.end / LANES, multipliers });
    // all of it with the zeros left out, where that is safe
    if (straight) s.set({ straight: this.pointer("straight"), straight_work: straight.at.work, straight_outs: straight.at.out, straight_count: straight.out,
      back: this.pointer("back"), back_work: back.at.work, back_outs: back.at.out, back_count: back.out,
      least_sine: rtol > (first / most) ** 2 ? Math.max(first / Math.sqrt(rtol), least) : most });
    const x = this.numbers(this.x, this.n + 1);
    x.set(start.q); x.set(start.u, this.data.n_q); x[this.n] = start.t;
    this.call["rows.choose_rows"](this.x, s.at);
    Object.assign(context, { f: this.pointer("rows.rates"), p: parts.fill.at.p, work: s.at });
    if (!(rows.m || rows.quaternions)) return false;
    Object.assign(context, { projection: this.pointer("rows.project"), projection_work: s.at, n_coordinates: -1 });
    return true;
  }

  // λ and the reactions c + Σ k_j λ_j at a state y with all quadratures
  reactions(t, y) {
    const { data, n } = this, { n_q, n_u } = data, { n: held, m, terms } = data.reactions, dy = this.probe + 8 * this.width;
    this.numbers(this.probe, this.width).set(y);
    this.call.rhs(t, this.probe, dy, this.context.at);
    const x = this.numbers(this.wide, n + 1 + n_u);
    x.set(y.subarray(0, n)); x[n] = t; x.set(this.numbers(dy + 8 * n_q, n_u), n + 1);
    const of = (name) => { const part = this.parts[name]; this.call[name](this.wide, part.at.p, part.at.out, part.at.work); return this.numbers(part.at.out, part.out).slice(); };
    const balance = of("balance"), values = of("reactions");
    // Aᵀ λ = what the rows have to balance, λ of least norm
    const columns = Array.from({ length: held }, (_, k) => Array.from({ length: m }, (_, j) => balance[held + j * held + k]));
    const lambda = m ? this.leastSquares(columns, Array.from(balance.subarray(0, held)), m, 1e-9) : [];
    return terms.map(([c, ks]) => ks.reduce((sum, [j, k]) => sum + values[k] * lambda[j], values[c]));
  }

  // who looks for events in every step
  get eyes() { return this.contacts ? this.contacts.eyes : this.happenings ? { events: this.pointer(this.data.events.look), watch: this.happenings.watch.at } : {}; }

  row(name) { const { work } = this.data; return this.numbers(this.work + 8 * this.width * (typeof name === "number" ? name : work[name]), this.width); }

  // from point k of a motion to another end, without looking for events; to point k itself if the end is not beyond
  retake(motion, k, end) {
    const t = motion.time(k), { run } = this;
    this.row("y").set(motion.point(k));
    motion.cut(k + 1);
    run.set({ t, t_end: Math.max(t, end), n_breaks: 0, streak: 0, events: 0, stored: 0 });
    if (Number(this.call.start(run.at))) { motion.stop(this.why(`at t = ${t.toPrecision(6)}`)); return false; }
    run.set({ h: end - t });
    for (;;) {
      run.set({ budget: 1 << 20 });
      const left = Number(this.call.advance(run.at));
      motion.take(run.get("stored")); run.set({ stored: 0 });
      if (left === EXIT.END) return true;
      if (left === EXIT.STOPPED) { motion.stop(this.why(`at t = ${run.get("t").toPrecision(6)}`)); return false; }
    }
  }

  // a new initial state at time t, with all quadratures
  restart(t, y, end) {
    this.row("y").set(y);
    this.run.set({ t, ...this.breaks(t, end), h_max: end - t, h: 0, streak: 0, cause: 0, code: 0, stored: 0, ...this.eyes });
    return !Number(this.call.start(this.run.at));
  }

  // slices of a run; every `yield` is a chance to be overtaken. Returns the motion.
  // `from` continues from the last state of another run
  * follow(setting, milliseconds = 12, clock = () => performance.now(), from = null) {
    const start = from ? this.resume(setting, from) : this.begin(setting);
    this.set(start, setting);
    const motion = new Motion(this, start), run = this.run;
    if (this.contacts) {
      this.contacts.set(start, setting);
      return this.contacts.begin(motion) ? yield* this.integrate(motion, milliseconds, clock) : motion;
    }
    // the first derivatives and the first step size
    if (Number(this.call.start(run.at))) { motion.take(1); return motion.stop(this.why("at the start")); }
    this.happenings?.begin([...start.q, ...start.u], this.row(0), start.t);
    return yield* this.integrate(motion, milliseconds, clock);
  }

  // from the state that the loop has to the end of the run
  * integrate(motion, milliseconds = 12, clock = () => performance.now()) {
    const { run, contacts } = this, take = () => (contacts ? contacts.take(motion) : motion.take(run.get("stored")));
    let budget = 64;
    for (;;) {
      const before = clock();
      run.set({ budget });
      const left = contacts ? contacts.drive(motion) : Number(this.call.advance(run.at));
      if (left === null) return motion;
      if (left === EXIT.FULL && contacts) contacts.empty(motion);
      else if (left === EXIT.FULL) { motion.take(run.get("stored")); run.set({ stored: 0 }); }
      if (left === EXIT.EVENT) {
        motion.take(run.get("stored")); run.set({ stored: 0 });
        const over = this.happenings.pass(motion);
        motion.events = this.happenings.happened;
        if (over) return motion;
      }
      if (left === EXIT.END) { take(); return motion; }
      if (left === EXIT.STOPPED) { take(); return motion.stop(this.why(`at t = ${run.get("t").toPrecision(6)}`)); }
      if (motion.stored > MOST_NUMBERS) { take(); return motion.stop(`stopped at t = ${run.get("t").toPrecision(6)}: ${motion.count} steps are as many as a page can keep; da.simulate follows longer motions`); }
      if (left === EXIT.BUDGET) {
        const took = clock() - before;
        budget = Math.max(1, Math.min(4 * budget, Math.round(budget * milliseconds / Math.max(took, 0.05))));
        yield run.get("t");
      }
    }
  }

  why(where) { return `stopped ${where}: ${WHY[this.run.get("cause")] || "the step became too small"}`; }
}

// The points of a run with the polynomials between them.
class Motion {
  constructor(engine, start) { this.engine = engine; this.start = start; this.blocks = []; this.count = 0; this.stored = 0; this.stopped = ""; this.ended = ""; this.events = []; this.hand = []; this.modes = null; }

  // points of the buffer from a place on
  take(count, first = 0) {
    const e = this.engine, w = e.width, part = (at, size) => e.numbers(at + 8 * first * size, count * size).slice();
    if (count <= 0) return;
    this.blocks.push({ first: this.count, t: part(e.points.times, 1), y: part(e.points.states, w), dense: part(e.points.dense, w * DENSE_ROWS) });
    this.count += count; this.stored += count * w * (DENSE_ROWS + 1);
  }

  // only the first points; their blocks may be shared, so they are not changed
  cut(count) {
    while (this.blocks.length && this.blocks[this.blocks.length - 1].first >= count) this.blocks.pop();
    const b = this.blocks.pop(), n = count - b.first, w = this.engine.width;
    this.blocks.push({ first: b.first, t: b.t.subarray(0, n), y: b.y.subarray(0, n * w), dense: b.dense.subarray(0, n * w * DENSE_ROWS) });
    this.count = count;
  }

  // one more point, after a step that takes no time
  add(t, y) {
    const dense = new Float64Array(y.length * DENSE_ROWS);
    dense.set(y);
    this.blocks.push({ first: this.count++, t: Float64Array.of(t), y: y.slice(), dense });
  }

  stop(why) { this.stopped = why; return this; }

  block(k) {
    let low = 0, high = this.blocks.length - 1;
    while (high > low) { const m = (low + high + 1) >> 1; if (this.blocks[m].first <= k) low = m; else high = m - 1; }
    return this.blocks[low];
  }
  time(k) { const b = this.block(k); return b.t[k - b.first]; }
  point(k) { const b = this.block(k), w = this.engine.width; return b.y.subarray((k - b.first) * w, (k - b.first + 1) * w); }
  get last() { return this.time(this.count - 1); }
  get first() { return this.time(0); }

  // y(t) by the dense output: r₀ + θ(r₁ + θ̄(r₂ + …))
  at(t) {
    let low = 0, high = this.count - 1;
    if (high === 0 || t <= this.first) return this.point(0).slice();
    while (high - low > 1) { const m = (low + high) >> 1; if (this.time(m) <= t) low = m; else high = m; }
    const begin = this.time(low), end = this.time(high), w = this.engine.width;
    if (t >= end) return this.point(high).slice();
    if (t === begin) return this.point(low).slice();
    const b = this.block(high);
    return this.held(t, this.polynomial(b, (high - b.first) * w * DENSE_ROWS, (t - begin) / (end - begin)));
  }

  polynomial(b, o, theta) {
    const e = this.engine, w = e.width, size = w * DENSE_ROWS;
    e.numbers(e.step, size).set(b.dense.subarray(o, o + size));
    e.call.interpolate(e.step, BigInt(w), BigInt(DENSE_ROWS), 0n, BigInt(w), theta, e.between);
    return e.numbers(e.between, w).slice();
  }

  // between its ends a step leaves the rows by as much as its error: back onto them, as at the ends
  held(t, y) {
    const e = this.engine;
    if (!e.data.rows || !e.data.rows.m) return y;
    const room = e.numbers(e.projected, e.width);
    room.set(y);
    if (e.call["rows.project"](t, e.projected, e.rowSolver.at) === 0) y.set(e.numbers(e.projected, e.n));
    return y;
  }

  // the last point that is not later than t
  index(t) {
    let low = 0, high = this.count;
    while (high - low > 1) { const m = (low + high) >> 1; if (this.time(m) <= t) low = m; else high = m; }
    return low;
  }

  // the work of the pointer up to point k
  handWork(k) {
    let low = -1, high = this.hand.length;
    while (high - low > 1) { const m = (low + high) >> 1; if (this.hand[m][0] <= k) low = m; else high = m; }
    return low < 0 ? 0 : this.hand[low][1];
  }

  // states and outputs at times, in rows
  sample(times) { return { ...this.seen(times, (k) => this.at(times[k])), hand: this.hand.length ? Float64Array.from(times, (t) => this.handWork(this.index(t))) : null }; }

  // the same at the points of the run itself, of which there may be two at one time: before and after an event
  steps(most) {
    const every = Math.max(1, Math.ceil(this.count / most)), found = [];
    for (let k = 0; k < this.count; k += every) found.push(k);
    if (found[found.length - 1] !== this.count - 1) found.push(this.count - 1);
    return { ...this.seen(found.map((k) => this.time(k)), (k) => this.point(found[k])), hand: this.hand.length ? Float64Array.from(found, (k) => this.handWork(k)) : null };
  }

  seen(times, state) {
    const e = this.engine, part = e.parts.outputs, n = e.n, states = new Float64Array(times.length * (n + e.riding)), outputs = new Float64Array(times.length * part.out);
    times.forEach((t, k) => {
      const y = state(k);
      e.contacts?.show(this.modes, t);
      states.set(y.subarray(0, n + e.riding), k * (n + e.riding));
      const x = e.numbers(e.x, n + 1);
      x.set(y.subarray(0, n)); x[n] = t;
      e.call.outputs(e.x, part.at.p, part.at.out, part.at.work);
      outputs.set(e.numbers(part.at.out, part.out), k * part.out);
    });
    return { t: Float64Array.from(times), states, outputs };
  }
}
