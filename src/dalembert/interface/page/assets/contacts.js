// Contacts of a run: the memory of the native loop that changes their modes, and its records. The loop
// is the one of a run in Python; where that would ask Python, a run in a page stops and says so.
"use strict";

const MODE = { OPEN: 0, CLOSED: 1 }, NOTHING_FELL = 9, MOST_SHORTENED = 60, MOST_AT_ONE_PLACE = 7, MOST_CHANGES = 100000, MANY_CHANGES = 500;

class Contacts {
  constructor(engine) {
    const d = this.data = engine.data.contacts, { fields } = d;
    this.engine = engine;
    this.s = new Structure(engine, fields.transition);
    this.watches = new Structure(engine, fields.guards);
    this.monitors = Object.fromEntries(["guards", "free_guards"].map((name) => [name, this.monitor(name, fields.monitor)]));
    this.at = Object.fromEntries(Object.entries(d.room).map(([name, size]) => [name, engine.room(size)]));
    for (const [name, values] of Object.entries(d.arrays)) this.put(this.at[name] = engine.room(values.length), values);
    const { width, n } = engine, dense = width * DENSE_ROWS, { quantities } = engine.parts;
    for (const [name, size] of Object.entries({ restitution: d.names.length, x: padded(n + 1), q: quantities.out, energy_result: 3, step: dense, saved: width, after: width, moved: width })) this.at[name] = engine.room(size);
    this.table = engine.room(10 * Math.max(engine.parts.guards.out, engine.parts.free_guards.out, 1));
    this.states = engine.room(d.coarse_states * (padded(n) + LANES));
    this.settings();
  }

  // memory of guards: what they were at the last sample, and on which side
  monitor(name, fields) {
    const e = this.engine, count = e.parts[name].out, room = Object.fromEntries(["values", "last", "earlier", "side", "wanted", "side_before", "noise"].map((key) => [key, e.room(count)]));
    return { structure: new Structure(e, fields), room, count, x: e.room(padded(e.n + 1) + LANES) };
  }

  put(at, values) { values.forEach((x, i) => { this.engine.i32[at / 4 + 2 * i] = x; this.engine.i32[at / 4 + 2 * i + 1] = x < 0 ? -1 : 0; }); }
  whole(at, count) { return Array.from({ length: count }, (_, i) => this.engine.i32[at / 4 + 2 * i]); }

  // parameters that a mode sets, in all functions, and what follows from parameters alone; addresses have four bytes
  settings() {
    const e = this.engine, { flags } = this.data, places = [], heads = [];
    for (const part of Object.values(e.parts)) {
      const own = part.p.flatMap((name, i) => (name in flags ? [[part.at.p + 8 * i, ...flags[name]]] : []));
      if (own.length) { places.push(...own); heads.push(part); }
    }
    const addresses = (values) => { const at = e.room(values.length); values.forEach((x, i) => { e.i32[at / 4 + i] = x; }); return at; };
    const numbers = (values) => { const at = e.room(values.length); this.put(at, values); return at; };
    Object.assign(this.at, { set_at: addresses(places.map((x) => x[0])), set_contact: numbers(places.map((x) => x[1])), set_flag: numbers(places.map((x) => x[2])),
      prologue: addresses(heads.map((part) => e.pointer(`${part.name}.prologue`))), prologue_p: addresses(heads.map((part) => part.at.p)), prologue_work: addresses(heads.map((part) => part.at.work)) });
    this.counts = { settings: places.length, prologues: heads.length };
  }

  // who looks for guards in every step
  get eyes() { return { events: this.engine.pointer("falls.look_for_falls"), watch: this.watches.at }; }

  // memory for a new run; refuses coefficients that are none
  set(start, setting) {
    const e = this.engine, { data, parts } = e, t1 = start.t + setting.duration, { audit } = data;
    const restitution = e.evaluate("restitutions", start.q, start.u, start.t);
    this.check(restitution, e.evaluate("quantities", start.q, start.u, start.t));
    e.numbers(this.at.restitution, restitution.length).set(restitution);
    for (const [name, m] of Object.entries(this.monitors)) {
      m.structure.clear();
      m.structure.set({ g: e.pointer(name), p: parts[name].at.p, work: parts[name].at.work, x: m.x, count: m.count, n_state: e.n, groups: e.width / LANES, state_groups: padded(e.n) / LANES, rows: DENSE_ROWS, ...m.room });
      e.numbers(m.room.wanted, m.count).fill(-1);
    }
    const all = this.monitors.guards.structure.at, cheap = this.monitors.free_guards.structure.at;
    this.watches.clear();
    this.watches.set({ cheap, all, costly: 1, table: this.table, states: this.states, may_be_rough: 1 });
    this.s.clear();
    const search = Object.fromEntries(["first_falls", "sample"].map((name) => [name, e.pointer(`falls.${name}`)]));
    this.s.set({ ...this.data.numbers, ...this.at, ...this.counts, ...search, run: e.run.at, start: e.pointer("start"), advance: e.pointer("advance"), search: e.pointer("falls.look_for_falls"), all, cheap, watches: this.watches.at,
      quantities: e.pointer("quantities"), quantities_p: parts.quantities.at.p, quantities_work: parts.quantities.at.work, context: e.context.at, project: parts.projection ? e.pointer("project") : 0,
      taken: -1, width: e.width, t1, max_step: setting.duration, duration: setting.duration, tolerance: setting.rtol });
    if (audit && audit.taken >= 0) this.s.set({ energy: e.pointer("energy"), energy_p: parts.energy.at.p, energy_work: parts.energy.at.work, taken: e.n + audit.taken, E_start: e.context.place.E_start[0] });
    Object.assign(this, { kept: 0, shortened: [], records: [], events: [], shown: null });
  }

  check(restitution, quantities) {
    const { names, numbers: { m, n_u } } = this.data, k = names.length, mu = m * m + m + n_u * m + m + k;
    names.forEach((name, i) => {
      if (!(restitution[i] >= 0 && restitution[i] <= 1)) throw new BadSetting(`“${name}”: its restitution is ${restitution[i]}: it must lie between 0 (no rebound) and 1 (nothing lost)`);
      if (quantities[mu + i] < 0) throw new BadSetting(`“${name}”: its friction is ${quantities[mu + i]}; a coefficient of friction is not negative`);
      if (quantities[mu + k + i] < quantities[mu + i] * (1 - 1e-12)) throw new BadSetting(`“${name}”: its static friction ${quantities[mu + k + i]} is less than ${quantities[mu + i]}, that of slip; raise it to that`);
    });
  }

  // the first mode; whether the run can begin
  begin(motion) {
    const e = this.engine, code = Number(e.call["contacts.begin"](this.s.at));
    if (code < 0) throw new BadSetting(`“${this.data.names[-1 - code]}”: the start is inside it; start where the gap is positive or zero`);
    if (code === this.data.exits.DECIDE) { this.take(motion); motion.stop(this.undecided("at the start")); return false; }
    this.read();
    if (code) { this.take(motion); motion.stop(e.why("at the start")); return false; }
    return true;
  }

  undecided(where) { return `stopped ${where}: the next contact mode needs laws that native code does not have (undetermined or several possible forces); use da.simulate`; }

  // steps and changes of mode; an exit of the integrator, or null after the motion was stopped
  drive(motion) {
    const e = this.engine, { exits } = this.data;
    for (;;) {
      const code = Number(e.call["contacts.drive"](this.s.at));
      this.read();
      const endless = this.endless();
      if (endless) { this.take(motion); motion.stop(endless); return null; }
      if (code === exits.LOG_FULL) continue;
      const left = code === EXIT.EVENT ? this.resolve(motion) : code;
      if (left === NOTHING_FELL) continue;
      if (left === exits.DECIDE) { this.take(motion); motion.stop(this.undecided(`at t = ${e.run.get("t").toPrecision(6)}`)); return null; }
      return left;
    }
  }

  // a step in which guards may fall that the loop could not follow: from the front of the buffer, then in shorter steps
  resolve(motion) {
    const e = this.engine, rough = this.watches.get("rough");
    this.front(motion, 2);
    const begin = e.f64[e.points.times / 8], again = this.shortened.slice(-MOST_AT_ONE_PLACE), stuck = again.length === MOST_AT_ONE_PLACE && again.every((t) => t === begin);
    if (!rough || stuck) {
      this.watches.set({ rough: 0 });
      const code = Number(e.call["contacts.change"](this.s.at));
      this.read();
      if (code !== EXIT.EVENT) return code || NOTHING_FELL;
    }
    if (stuck || this.shortened.length >= MOST_SHORTENED) { this.watches.set({ may_be_rough: this.shortened.length < MOST_SHORTENED ? 1 : 0 }); e.run.set({ h_max: this.s.get("t1") - e.run.get("t") }); return NOTHING_FELL; }
    this.shortened.push(begin);
    return Number(e.call["contacts.shorten_step"](this.s.at)) || NOTHING_FELL;
  }

  // the last points come to the front of the buffer; all but the last of them are taken
  front(motion, count) {
    const e = this.engine, { width, points } = e, stored = e.run.get("stored"), first = stored - count, move = (at, size) => e.f64.copyWithin(at / 8, at / 8 + first * size, at / 8 + stored * size);
    if (first <= 0) return;
    motion.take(stored - count + 1 - this.kept, this.kept);
    move(points.times, 1); move(points.states, width); move(points.dense, width * DENSE_ROWS);
    this.kept = 1;
    e.run.set({ stored: count });
  }

  take(motion) { motion.take(this.engine.run.get("stored") - this.kept, this.kept); this.kept = this.engine.run.get("stored"); motion.modes = this.records; motion.events = this.events; }

  // the buffer is full: its last point stays, where the next step begins
  empty(motion) { motion.take(this.engine.run.get("stored") - this.kept, this.kept); this.kept = this.engine.run.get("stored"); this.front(motion, 1); }

  // ---- records -----------------------------------------------------------------------------

  read() {
    const e = this.engine, { s, at, data: { names, texts } } = this, count = s.get("logged"), k = names.length;
    if (!count) return;
    const t = e.numbers(at.log_t, count), hit = this.whole(at.log_hit, count), modes = this.whole(at.log_mode, count * k), impulse = e.numbers(at.log_impulse, count * k), energies = e.numbers(at.log_energy, count), rest = e.numbers(at.log_rest, count * k);
    for (let i = 0; i < count; i++) {
      const before = this.records.at(-1)?.modes, now = modes.slice(i * k, (i + 1) * k);
      let energy = energies[i];
      names.forEach((name, j) => { if (hit[i] && impulse[i * k + j] > 0) { this.events.push({ t: t[i], name, how: "impact", impulse: impulse[i * k + j], energy }); energy = 0; } });
      names.forEach((name, j) => { if (hit[i] && !Number.isNaN(rest[i * k + j])) this.events.push({ t: rest[i * k + j], name, how: this.data.rests, impulse: null }); });
      if (before) names.forEach((name, j) => { if (before[j] !== now[j]) this.events.push({ t: t[i], name, how: now[j] === MODE.OPEN ? "lifts off" : texts[now[j]], impulse: null }); });
      this.records.push({ t: t[i], modes: now });
    }
    this.shortened = [];
    s.set({ logged: 0 });
  }

  // modes that change again and again in no time lead nowhere
  endless() {
    const r = this.records, many = r.length > MANY_CHANGES && r.at(-1).t - r.at(-MANY_CHANGES).t <= 1e-8 * this.s.get("duration");
    return many || r.length > MOST_CHANGES ? `stopped at t = ${r.at(-1).t.toPrecision(6)}: the contacts change their modes without end` : "";
  }

  // the modes of a time of a motion, in all functions
  show(modes, t) {
    if (!modes?.length) return;
    let low = 0, high = modes.length;
    while (high - low > 1) { const middle = (low + high) >> 1; if (modes[middle].t <= t) low = middle; else high = middle; }
    if (this.shown === modes[low]) return;
    this.shown = modes[low];
    this.put(this.at.new_modes, modes[low].modes);
    this.engine.call["contacts.apply_modes"](this.s.at);
  }
}
