// Events of a run: where g(q, u, t) crosses zero in a step, by the search of the module; what a reset
// or an impact does there, and from where the run continues, with the slopes of g and the entries of
// 𝓜, A and J from the module.
"use strict";

const LAST_BITS = 64, AT_ONCE = 1e-12, POLISHES = 4, MOST_EVENTS = 100000, TOO_OFTEN = 50, SHRINKING = 8, SHORT_INTERVAL = 1e-7;
const ulp = (x) => (x === 0 ? Number.MIN_VALUE : Math.max(2 ** (Math.floor(Math.log2(Math.abs(x))) - 52), Number.MIN_VALUE));

class Happenings {
  constructor(engine) {
    this.engine = engine;
    this.events = engine.data.events.list;
    const m = this.events.length;
    this.watch = new Structure(engine, engine.data.events.fields);
    this.room = Object.fromEntries(["values", "last", "earlier", "side", "wanted", "side_before"].map((name) => [name, engine.room(m)]));
    this.x = engine.room(padded(engine.n + 1) + LANES);
    const { points, most } = engine.data.events, sizes = { dense: engine.width * DENSE_ROWS, table: points * m, times: most * m, numbers: most * m };
    this.search = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, engine.room(size)]));
  }

  of(name) { return this.engine.numbers(this.room[name], this.events.length); }

  // memory for a new run; refuses a coefficient that is none, and a start inside an obstacle
  set(setting, start) {
    const e = this.engine, part = e.parts.crossings;
    this.watch.clear();
    this.watch.set({ g: e.pointer("crossings"), p: part.at.p, work: part.at.work, x: this.x, count: this.events.length, n_state: e.n, groups: e.width / LANES, state_groups: padded(e.n) / LANES, rows: DENSE_ROWS, ...this.room });
    this.of("wanted").set(this.events.map((one) => one.sign));
    Object.assign(this, { acts: [], happened: [], end: start.t + setting.duration, begun: start.t });
    const y = [...start.q, ...start.u], g = this.at("crossings", y, start.t), slopes = this.at("slopes", y, start.t), acts = this.at("acts", y, start.t);
    this.events.forEach((one, i) => {
      if (one.action === "IMPACT" && !(acts[one.at + 1] >= 0 && acts[one.at + 1] <= 1))
        throw new BadSetting(`the restitution of “${one.title}” is ${acts[one.at + 1]}: it must lie between 0 (no rebound) and 1 (nothing lost)`, one.restitution ? [one.restitution] : null);
      if (!Number.isFinite(g[i])) throw new BadSetting(`“${one.title}” has no finite value at this start`);
      if (one.action === "IMPACT" && g[i] < -this.rounding(slopes, i, y, start.t)) throw new BadSetting(`“${one.title}”: the gap is ${g[i].toPrecision(6)} at the start, already closed; start where it is positive`);
    });
  }

  at(name, y, t) { const { n_q } = this.engine.data; return this.engine.evaluate(name, y.slice(0, n_q), y.slice(n_q, this.engine.n), t); }
  rounding(slopes, i, y, t) { const w = this.engine.n + 1; let sum = Math.abs(slopes[i * w + w - 1] * t); for (let k = 0; k < w - 1; k++) sum += Math.abs(slopes[i * w + k] * y[k]); return 1e-12 * sum + 1e-14; }
  rate(slopes, i, dy) { const w = this.engine.n + 1; let sum = slopes[i * w + w - 1]; for (let k = 0; k < w - 1; k++) sum += slopes[i * w + k] * dy[k]; return sum; }

  // from here on: what is zero, or as small as rounding makes it, is on the side it is going to; a gap always on the open side
  begin(y, dy, t) {
    const g = this.at("crossings", y, t), slopes = this.at("slopes", y, t), side = this.of("side"), last = this.of("last"), earlier = this.of("earlier");
    this.events.forEach((one, i) => {
      const rate = this.rate(slopes, i, dy), small = Math.abs(g[i]) <= this.rounding(slopes, i, y, t) + LAST_BITS * ulp(t) * Math.abs(rate);
      side[i] = small ? (one.action === "IMPACT" ? 1 : Math.sign(rate)) : Math.sign(g[i]);
      last[i] = earlier[i] = small ? 0 : g[i];
    });
    this.watch.set({ t_last: t, t_earlier: t });
  }

  // ---- where -------------------------------------------------------------------------------

  // crossings in the step that ends at point k of a motion, in the order of time
  crossings(motion, k) {
    const e = this.engine, { dense, table, times, numbers } = this.search, block = motion.block(k), size = e.width * DENSE_ROWS, first = (k - block.first) * size, m = this.events.length;
    e.numbers(dense, size).set(block.dense.subarray(first, first + size));
    const count = Number(e.call[e.data.events.crossings](this.watch.at, dense, motion.time(k - 1), motion.time(k), table, this.room.side_before, times, numbers, BigInt(m)));
    return Array.from(e.numbers(times, count), (t, j) => ({ t, event: e.i32[numbers / 4 + 2 * j] })).sort((a, b) => a.t - b.t || a.event - b.event);
  }

  // ---- what --------------------------------------------------------------------------------

  // y = (q, u) afterwards, and the impulse along the gap
  act(one, y, t) {
    const e = this.engine, found = this.at("acts", y, t), after = y.slice();
    if (one.action === "RESET") {
      one.places.forEach((k, j) => { after[k] = found[one.at + j]; });
      if (!after.every(Number.isFinite)) throw new BadSetting(`“${one.title}” at t = ${t.toPrecision(6)}: the new values are not finite`);
      if (!e.initial.holds(after.slice(0, e.data.n_q), after.slice(e.data.n_q), t)) throw new BadSetting(`“${one.title}” at t = ${t.toPrecision(6)}: the new state breaks a constraint`);
      return { after };
    }
    const rate = found[one.at], restitution = found[one.at + 1], [rows, n] = one.shape;
    if (rate >= 0) return { after, impulse: 0 };
    const full = Array.from({ length: rows }, () => new Array(n).fill(0));
    one.entries.forEach(([r, s], k) => { full[r][s] = found[one.at + 2 + k]; });
    const change = -(1 + restitution) * rate, { du, impulse } = this.impulse(full.slice(0, n), full.slice(n), change), J = full[rows - 1];
    if (Math.abs(J.reduce((sum, x, k) => sum + x * du[k], 0) - change) > 1e-9 * Math.abs(rate)) throw new BadSetting(`“${one.title}” at t = ${t.toPrecision(6)}: no motion that the constraints allow can open the gap again`);
    du.forEach((x, k) => { after[after.length - n + k] += x; });
    return { after, impulse };
  }

  // 𝓜 Δu = Aᵀλ̂ + Jᵀ Λ, A Δu = 0, J Δu = change, with speeds in units that carry as much and rows of length one
  impulse(M, rows, change) {
    const n = M.length, unit = M.map((row, k) => { const size = Math.sqrt(Math.abs(row[k])); return size > 0 ? 1 / size : 1; });
    const B = rows.map((row) => row.map((x, k) => x * unit[k])), scale = B.map((row) => 1 / (Math.hypot(...row) || 1)), scaled = B.map((row, j) => row.map((x) => x * scale[j]));
    const K = [...M.map((row, r) => [...row.map((x, s) => x * unit[r] * unit[s]), ...scaled.map((line) => -line[r])]), ...scaled.map((line) => [...line, ...scaled.map(() => 0)])];
    const given = new Array(K.length).fill(0), last = K.length - 1;
    given[last] = change * scale[scale.length - 1];
    const x = this.engine.leastSquares(K, given, K.length, 1e-12);
    return { du: unit.map((size, k) => x[k] * size), impulse: x[last] * scale[scale.length - 1] };
  }

  // ---- a step in which something may have happened -------------------------------------------

  // whether the motion is over; it then knows why
  pass(motion) {
    const e = this.engine, k = motion.count - 1, step = { begin: motion.time(k - 1), end: motion.time(k) }, found = this.crossings(motion, k), acting = found.filter((c) => this.events[c.event].action !== "RECORD");
    const until = acting.length ? acting[0].t : step.end, near = until + AT_ONCE * (step.end - step.begin) + LAST_BITS * ulp(until);
    for (const c of found) if (c.t <= near && this.events[c.event].action === "RECORD") this.note(c.event, c.t);
    if (!acting.length) return false;
    if (!this.moveTo(motion, k - 1, acting[0], step)) return true;
    const t = e.run.get("t"), w = e.row("y"), y = w.slice(), whole = e.n + e.riding;
    for (const c of acting.filter((one) => one.t <= near)) {
      const one = this.events[c.event], before = Array.from(y.subarray(0, e.n));
      if (one.action === "STOP") { this.note(c.event, t); motion.ended = `ended by “${one.title}” at t = ${t.toPrecision(6)}`; return true; }
      const { after, impulse } = this.act(one, before, t), audit = e.data.audit;
      if (audit && audit.taken >= 0) { const [then, now] = [before, after].map((state) => { const E = this.at("energy", state, t); return E[0] + E[1]; }); y[e.n + audit.taken] += then - now; }
      y.set(after);
      this.note(c.event, t, impulse);
    }
    if (t >= this.end) { if (y.subarray(0, whole).some((x, j) => x !== w[j])) motion.add(t, y); return true; }
    const endless = this.endless(t, this.events[acting[0].event].title);
    if (endless) { motion.stop(endless); return true; }
    motion.add(t, y);
    if (!e.restart(t, y, this.end)) { motion.stop(e.why(`at t = ${t.toPrecision(6)}`)); return true; }
    this.begin(Array.from(y.subarray(0, e.n)), e.row(0), t);
    return false;
  }

  // from point k to the event: t* ← t* − g/ġ, the step taken again each time
  moveTo(motion, k, { t, event }, step) {
    const e = this.engine, shortest = step.begin + LAST_BITS * ulp(step.begin);
    let least = Infinity;
    for (let round = 0; round < POLISHES; round++) {
      if (!e.retake(motion, k, t > shortest ? t : step.begin)) return false;
      if (t <= shortest) return true;
      const y = Array.from(e.row("y").subarray(0, e.n)), g = this.at("crossings", y, t)[event], rate = this.rate(this.at("slopes", y, t), event, e.row(0)), next = rate ? t - g / rate : t;
      if (!(Math.abs(g) < least && next > shortest && next <= step.end) || next === t) return true;
      t = next; least = Math.abs(g);
    }
    return true;
  }

  note(i, t, impulse = null) { this.happened.push({ t, name: this.events[i].title, how: this.events[i].how, impulse }); }

  // why events that accumulate end a run, or ""
  endless(t, title) {
    this.acts.push(t);
    const length = this.end - this.begun, gaps = (count) => this.acts.slice(-count - 1).map((x, k, all) => all[k + 1] - x).slice(0, -1), recent = gaps(SHRINKING), lately = gaps(TOO_OFTEN);
    if (this.happened.length > MOST_EVENTS) return `stopped at t = ${t.toPrecision(6)}: “${title}” fires too often`;
    if (recent.length < SHRINKING) return "";
    if (recent.every((x) => x <= LAST_BITS * ulp(t)) || (lately.length === TOO_OFTEN && lately.every((x) => x * MOST_EVENTS <= 0.1 * length))) return `stopped at t = ${t.toPrecision(6)}: “${title}” fires again and again there; its effect on the state does not lead away from the event`;
    const last = recent[recent.length - 1];
    if (last <= SHORT_INTERVAL * length && recent.every((x, k) => !k || x < recent[k - 1])) return `stopped at t = ${t.toPrecision(6)}: “${title}” fires ever more often, the last interval ${last.toPrecision(2)}; continue with a constraint in place of the impact`;
    return "";
  }
}
