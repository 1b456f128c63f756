// A moving body that is pulled by a spring and damper to the pointer. Free motion by the module and
// impulses of the spring alternate: half a step, an impulse, half a step (Strang splitting).
"use strict";

// frequency of the spring by the clock on the wall in rad/s, its damping ratio, and the longest
// phase of the spring between two impulses
const PUSH_RATE = 12, PUSH_DAMPING = 0.5, PUSH_PHASE = 0.06, PUSH_LONGEST = 0.1;

class Push {
  // y: the state with all quadratures at time t; body and local: the point that was taken;
  // speed: seconds of the motion in a second
  constructor(engine, { setting, y, t, body, local, speed }) {
    const { n_q } = engine.data;
    if (engine.contacts) throw new BadSetting("a system with contacts is not pulled while it moves");
    Object.assign(this, { engine, setting, t, y: Float64Array.from(y), speed, work: 0, target: null });
    const start = { q: Array.from(y.subarray(0, n_q)), u: Array.from(y.subarray(n_q, engine.n)), t };
    this.grip = new DragSolver(engine, { values: setting.values, q: start.q, body, local });
    engine.sizes = engine.check(setting.values);
    engine.set(start, setting);
    this.motion = new Motion(engine, start);
    this.motion.add(t, this.y);
    this.omega = PUSH_RATE / speed;
    // spring and damper by the least mass that the point has in any direction
    const { mobility: [[xx, xy, xz], [, yy, yz], [, , zz]] } = this.inertia(), most = Engine.leastMoment(xx, yy, zz, xy, yz, xz, 0);
    this.mass = most > 0 ? 1 / most : 0;
  }

  get q() { return Array.from(this.y.subarray(0, this.engine.data.n_q)); }
  get u() { return Array.from(this.y.subarray(this.engine.data.n_q, this.engine.n)); }

  outputs(q, u) { return this.engine.evaluate("outputs", q, u, this.t); }
  kinetic(q, u) { const o = this.outputs(q, u), k = this.engine.data.outputs.energies; return o[k] + o[k + 1] + o[k + 2]; }
  point(q) { this.grip.t = this.t; return this.grip.point(q); }

  // q̇ = W u + X at these speeds
  rates(u) {
    const e = this.engine, dy = e.probe + 8 * e.width, y = e.numbers(e.probe, e.width);
    y.set(this.y); y.set(u, e.data.n_q);
    e.call.rhs(this.t, e.probe, dy, e.context.at);
    return Array.from(e.numbers(dy, e.data.n_q));
  }

  // the velocity of the point for these rates of the coordinates
  velocity(q, rates) {
    const h = 1e-5 * this.grip.size / (Math.max(...rates.map(Math.abs)) || 1), at = (k) => this.point(q.map((x, j) => x + k * h * rates[j])), [a, b] = [at(1), at(-1)];
    return a.map((x, i) => (x - b[i]) / (2 * h));
  }

  // 𝓜 and the rows on u from differences of T and of the residuals, both exact as T is quadratic in
  // u and the rows are linear; the response of the speeds to a force at the point, and J 𝓜⁻¹ Jᵀ
  inertia() {
    const { q, u } = this, n = u.length, { data } = this.engine, count = data.limits.rows.length, at = data.outputs.residuals, step = Math.max(1, ...u.map(Math.abs));
    const moved = (...ks) => u.map((x, k) => x + (ks.includes(k) ? step : 0)), T = this.kinetic(q, u), one = u.map((_, k) => this.kinetic(q, moved(k)));
    const two = u.map((x, k) => this.kinetic(q, u.map((z, j) => z - (j === k ? step : 0))));
    const M = u.map((_, i) => u.map((_, j) => (i === j ? one[i] + two[i] - 2 * T : this.kinetic(q, moved(i, j)) - one[i] - one[j] + T) / step ** 2));
    const rest = (v) => Array.from(this.outputs(q, v).subarray(at, at + count)), here = rest(u), slopes = u.map((_, k) => rest(moved(k)).map((x, j) => (x - here[j]) / step));
    const rows = here.map((_, j) => slopes.map((column) => column[j])).filter((row) => Math.hypot(...row) > 1e-9), rates = this.rates(u);
    const J = u.map((_, k) => this.velocity(q, this.rates(moved(k)).map((x, j) => (x - rates[j]) / step)));
    const response = [0, 1, 2].map((i) => this.response(M, rows, J.map((v) => v[i])));
    const mobility = [0, 1, 2].map((i) => [0, 1, 2].map((j) => J.reduce((sum, v, k) => sum + v[i] * response[j][k], 0)));
    return { response, mobility, velocity: this.velocity(q, rates) };
  }

  // 𝓜 x − Aᵀ λ = f, A x = 0, with speeds in units that carry as much and rows of length one
  response(M, A, f) {
    const n = f.length, unit = M.map((row, k) => 1 / (Math.sqrt(Math.abs(row[k])) || 1)), B = A.map((row) => { const line = row.map((x, k) => x * unit[k]), size = Math.hypot(...line) || 1; return line.map((x) => x / size); });
    const K = [...M.map((row, r) => [...row.map((x, s) => x * unit[r] * unit[s]), ...B.map((line) => -line[r])]), ...B.map((line) => [...line, ...B.map(() => 0)])];
    const x = this.engine.leastSquares(K, [...f.map((y, k) => y * unit[k]), ...B.map(() => 0)], K.length, 1e-12);
    return unit.slice(0, n).map((size, k) => x[k] * size);
  }

  // Δu = 𝓜⁻¹ Jᵀ F δ with the damper at the mean velocity; its work is the change of T
  impulse(duration) {
    if (!this.mass || !this.target) return;
    const { q, u } = this, { response, mobility, velocity } = this.inertia(), p = this.point(q), k = this.mass * this.omega ** 2, c = 2 * PUSH_DAMPING * this.mass * this.omega;
    const drag = mobility.map((row, i) => row.map((x, j) => +(i === j) + 0.5 * c * duration * x));
    const F = this.engine.leastSquares(drag, p.map((x, i) => k * (this.target[i] - x) - c * velocity[i]), 3);
    const after = u.map((x, j) => x + duration * F.reduce((sum, f, i) => sum + f * response[i][j], 0));
    if (!after.every(Number.isFinite)) return;
    const energy = (v) => this.outputs(q, v)[this.engine.data.outputs.energies];
    this.work += energy(after) - energy(u);
    this.y.set(after, this.engine.data.n_q);
    this.motion.add(this.t, this.y);
    this.motion.hand.push([this.motion.count - 1, this.work]);
  }

  // free motion; whether it could be followed
  drift(duration) {
    const e = this.engine, end = this.t + duration;
    if (!e.restart(this.t, this.y, end)) { this.motion.stop(e.why(`at t = ${this.t.toPrecision(6)}`)); return false; }
    e.run.set({ events: 0 });
    for (;;) {
      e.run.set({ budget: 1 << 16 });
      const left = Number(e.call.advance(e.run.at));
      this.motion.take(e.run.get("stored")); e.run.set({ stored: 0 });
      if (left === EXIT.STOPPED) { this.motion.stop(e.why(`at t = ${e.run.get("t").toPrecision(6)}`)); return false; }
      if (left === EXIT.END) break;
    }
    this.y.set(e.row("y").subarray(0, this.y.length)); this.t = end;
    return true;
  }

  // as many seconds on the wall, with the pointer at `target`
  move(target, seconds) {
    this.target = target;
    const whole = Math.min(seconds, PUSH_LONGEST) * this.speed, count = Math.max(1, Math.ceil(this.omega * whole / PUSH_PHASE));
    for (let k = 0; k < count && !this.motion.stopped; k++) if (this.drift(whole / count / 2)) { this.impulse(whole / count); this.drift(whole / count / 2); }
    const { q, u } = this, outputs = this.outputs(q, u), at = this.engine.data.outputs.residuals, rest = outputs.subarray(at, at + this.engine.data.limits.rows.length);
    return { t: this.t, q, outputs, point: this.point(q), work: this.work, residual: Math.max(0, ...rest.map(Math.abs)), stopped: this.motion.stopped };
  }

  // the rest of the run without the pointer, in slices
  * release() {
    const { engine: e, motion, setting, t, y } = this;
    motion.released = t;
    if (motion.stopped) return motion;
    if (e.happenings) e.happenings.set(setting, { q: this.q, u: this.u, t });
    if (!e.restart(t, y, t + setting.duration)) return motion.stop(e.why(`at t = ${t.toPrecision(6)}`));
    e.happenings?.begin([...this.q, ...this.u], e.row(0), t);
    return yield* e.integrate(motion);
  }
}
