// q(t₀) and u(t₀) from the given values: positions by damped Gauss–Newton on the rows, then speeds
// of least norm. The same search as in Python (runtime/states/assembly.py,
// runtime/states/initial_velocities.py), with the rows from the module.
"use strict";

class BadSetting extends Error {
  constructor(message, field = null) { super(message); this.field = field; }
}

class Beginning {
  // `positions(q)` and `velocities(q, u)` give the rows with their slopes; `asked` says which fields are conditions, `values` their numbers
  constructor(data, fields, asked, values, functions) {
    Object.assign(this, { data, fields, asked, functions });
    this.values = values.slice();
    for (const one of data.quaternions) this.unit(one);
    this.rows = data.rows.map((r, k) => ({ ...r, k, target: r.field >= 0 ? this.values[r.field] : r.target })).filter((r) => r.field < 0 || asked[r.field]);
  }

  // a quaternion that is given whole is brought to length one, and its rates with it
  unit({ frame, e, rates }) {
    if (!e.every((k) => this.asked[k])) return;
    const length = Math.hypot(...e.map((k) => this.values[k]));
    if (length === 0) throw new BadSetting(`four zeros are no orientation: give the quaternion of ${frame} a length, such as (1, 0, 0, 0) for no rotation`);
    if (Math.abs(length - 1) > 1e-12) for (const k of [...e, ...rates]) if (this.asked[k]) this.values[k] /= length;
  }

  // ---- positions ---------------------------------------------------------------------------

  at(q) {
    const found = this.functions.positions(q), n = q.length, m = this.data.rows.length;
    return {
      r: this.rows.map((row) => found[row.k] - row.target),
      J: this.rows.map((row) => Array.from(found.subarray(m + n * row.k, m + n * row.k + n))),
    };
  }

  satisfied(q, distance) {
    const { r, J } = this.at(q), size = Math.max(...q.map(Math.abs), 0) || 1;
    return r.map((x, k) => Math.abs(x) <= distance * size * Algebra.norm(J[k]) + 1e-14);
  }

  positions() {
    const q = (this.nearest ?? this.data.q).slice(), n = q.length, free = new Array(n).fill(true), guessed = new Array(n).fill(false);
    for (const [k] of Object.values(this.data.guess)) guessed[k] = true;
    this.fields.forEach((f, k) => { if (f.q >= 0 && this.asked[k]) { q[f.q] = this.values[k]; free[f.q] = false; guessed[f.q] = false; } });
    if (!this.rows.length) return q;
    const structure = this.rows.map((row) => this.data.structure[row.k]), open = this.satisfied(q, 1e-13).map((x) => !x);
    const [rows, columns] = this.reached(structure, open.map((x, k) => x || structure[k].some((s, j) => s && guessed[j])), free);
    if (!open.some(Boolean)) return q;
    if (!columns.some(Boolean)) throw this.contradiction(q, false);
    let best = q, error = Infinity;
    for (const nudge of [null, ...this.data.nudges]) {
      const found = this.gaussNewton(nudge ? q.map((x, k) => (columns[k] ? x + nudge[k] : x)) : q, rows, columns);
      const rest = this.at(found).r.reduce((sum, x) => sum + x * x, 0);
      if (rest < error) { best = found; error = rest; }
      const good = this.satisfied(best, 1e-9);
      if (rows.every((wanted, k) => !wanted || good[k])) break;
    }
    if (!this.satisfied(best, 1e-9).every(Boolean)) throw this.contradiction(best, true);
    return best;
  }

  // the rows and free coordinates connected with these rows
  reached(structure, rows, free) {
    let columns = free.map(() => false);
    for (;;) {
      const more = free.map((open, j) => open && structure.some((row, k) => rows[k] && row[j]));
      rows = rows.map((on, k) => on || structure[k].some((s, j) => s && more[j]));
      const next = free.map((open, j) => open && structure.some((row, k) => rows[k] && row[j]));
      if (next.every((x, j) => x === columns[j])) return [rows, columns];
      columns = next;
    }
  }

  gaussNewton(q, rows, columns) {
    const square = (r) => r.reduce((sum, x) => sum + x * x, 0), finite = ({ r, J }) => r.every(Number.isFinite) && J.every((row) => row.every(Number.isFinite));
    const wanted = rows.flatMap((on, k) => (on ? [k] : [])), places = columns.flatMap((on, k) => (on ? [k] : []));
    let here = this.at(q), radius = 0.5;
    for (let steps = 0; steps < 100 && finite(here) && wanted.some((k) => here.r[k]); steps++) {
      const part = this.damped(wanted.map((k) => places.map((j) => here.J[k][j])), wanted.map((k) => here.r[k]), places.length, radius);
      const step = q.map(() => 0);
      places.forEach((j, i) => { step[j] = -part[i]; });
      const length = Algebra.norm(step), size = Math.max(...q.map(Math.abs));
      if (length <= 1e-16 * size) break;
      const next = q.map((x, k) => x + step[k]), there = this.at(next), before = square(here.r), after = square(there.r);
      const predicted = before - square(Algebra.times(here.J, step).map((x, k) => x + here.r[k]));
      if (there.r.every(Number.isFinite) && after < before) {
        if (before - after > 0.5 * predicted) radius = Math.max(radius, 3 * length);
        q = next; here = there;
      } else if (length <= 1e-14 * size) break;
      else radius = length / 3;
    }
    return q;
  }

  // Jᵀ (J Jᵀ + μ 1)⁻¹ r with the least μ that keeps it within the radius
  damped(J, r, n, radius) {
    const { U, s, V } = Algebra.svd(J), kept = s.flatMap((x, k) => (x > 1e-12 * s[0] ? [k] : []));
    const along = kept.map((k) => U[k].reduce((sum, u, i) => sum + u * r[i], 0));
    let step = kept.map((k, i) => along[i] / s[k]), mu = 1e-12 * (s[0] || 0) ** 2;
    while (Algebra.norm(step) > radius) { step = kept.map((k, i) => s[k] * along[i] / (s[k] * s[k] + mu)); mu *= 3; }
    return Array.from({ length: n }, (_, j) => kept.reduce((sum, k, i) => sum + step[i] * V[k][j], 0));
  }

  contradiction(q, moved) {
    const { r } = this.at(q), good = this.satisfied(q, 1e-9);
    const worst = r.map((x, k) => (good[k] ? -1 : Number.isNaN(x) ? Infinity : Math.abs(x))).reduce((best, x, k, all) => (x > all[best] ? k : best), 0);
    const row = this.rows[worst];
    if (Number.isNaN(r[worst])) return new BadSetting(`“${row.name}” has no real value at these positions`);
    const closes = this.data.between[row.name];
    if (closes && moved) {
      const same = this.rows.filter((x) => (this.data.between[x.name] || [])[0] === closes[0]).map((x) => r[this.rows.indexOf(x)]);
      return new BadSetting(`“${closes[0]}” cannot be closed: ${closes[1]} and ${closes[2]} stay ${Algebra.norm(same).toPrecision(3)} apart at the nearest position found; change a length or a start value`);
    }
    return new BadSetting(`no position satisfies “${row.name}”: the nearest leaves ${r[worst].toPrecision(3)}; change a length or a start value`);
  }

  // ---- speeds ------------------------------------------------------------------------------

  // C u = d at positions q, every row that is not linear replaced by its tangent at u
  conditions(q, u) {
    const n = u.length, found = this.functions.velocities(q, u), C = [], d = [];
    this.active.forEach((c) => {
      const line = found.subarray((n + 1) * c.k, (n + 1) * (c.k + 1)), slope = Array.from(line.subarray(1)), value = c.field >= 0 ? this.values[c.field] : 0;
      C.push(slope);
      d.push(c.curved ? value + slope.reduce((sum, x, r) => sum + x * u[r], 0) - line[0] : value - line[0]);
    });
    return { C, d };
  }

  speeds(q, n) {
    this.active = this.data.velocities.map((c, k) => ({ ...c, k })).filter((c) => c.field < 0 || this.asked[c.field]);
    let u = new Array(n).fill(0);
    for (const [k, x] of Object.values(this.data.bent)) u[k] = x;
    const first = this.conditions(q, u), curved = this.active.some((c) => c.curved);
    if (![...first.C.flat(), ...first.d].every(Number.isFinite)) throw new BadSetting("a given velocity is not defined at these positions: start elsewhere");
    const free = u.map((_, r) => first.C.some((row) => row[r] !== 0) || curved);
    for (const c of this.active) if (c.field >= 0 && this.fields[c.field].u >= 0) { const r = this.fields[c.field].u; u[r] = this.values[c.field]; free[r] = false; }
    if (free.some(Boolean)) {
      u = this.solved(q, u, free, curved);
      if (this.data.augmented) u = this.sparing(q, u, free, curved);
    }
    this.check(q, u);
    return u;
  }

  solved(q, u, free, curved) {
    u = u.slice();
    const places = free.flatMap((on, k) => (on ? [k] : []));
    for (let round = 0; round < (curved ? 30 : 2); round++) {
      let at = u;
      if (curved && round === 0 && !this.conditions(q, u).C.some((row) => places.some((k) => row[k]))) at = u.map((x, k) => (free[k] ? x + 0.1 * (Math.max(...u.map(Math.abs)) || 1) : x));
      const { C, d } = this.conditions(q, at), rest = d.map((x, k) => x - C[k].reduce((sum, a, r) => sum + a * u[r], 0));
      const change = Algebra.leastSquares(C.map((row) => places.map((k) => row[k])), rest, places.length);
      places.forEach((k, i) => { u[k] += change[i]; });
    }
    const largest = Math.max(...u.map(Math.abs), 0), clean = u.map((x, k) => (free[k] && Math.abs(x) <= 1e-14 * largest ? 0 : x));
    return this.excess(q, clean).every((x) => x <= 0) ? clean : u;
  }

  // the same with rates at zero that the rows allow to be so, first declared first, if the others stay moderate
  sparing(q, u, free, curved) {
    free = free.slice();
    for (let k = 0; k < u.length; k++) {
      const places = free.flatMap((on, j) => (on ? [j] : [])), { C } = this.conditions(q, u);
      if (Algebra.rank(C.map((row) => places.map((j) => row[j]))) === places.length) break;
      if (!free[k] || Object.values(this.data.bent).some(([r]) => r === k)) continue;
      free[k] = false;
      const trial = u[k] === 0 ? u : this.solved(q, u.map((x, j) => (j === k ? 0 : x)), free, curved);
      if (this.excess(q, trial).every((x) => x <= 0) && Algebra.norm(trial) <= 10 * Algebra.norm(u)) u = trial;
      else free[k] = true;
    }
    return u;
  }

  excess(q, u) {
    const { C, d } = this.conditions(q, u), fastest = Math.max(...u.map(Math.abs), 0);
    return d.map((x, k) => {
      const size = C[k].reduce((sum, a, r) => sum + Math.abs(a * u[r]), 0), entries = C[k].reduce((sum, a) => sum + Math.abs(a), 0);
      return Math.abs(C[k].reduce((sum, a, r) => sum + a * u[r], 0) - x) - (1e-9 * (size + Math.abs(x)) + 1e-14 + fastest * 1e-13 * entries);
    });
  }

  // whether a state at time t satisfies the rows of the system, without the given initial values
  holds(q, u, t) {
    const other = new Beginning({ ...this.data, quaternions: [] }, this.fields, this.asked.map(() => false), this.values, { ...this.functions });
    other.active = this.data.velocities.map((c, k) => ({ ...c, k })).filter((c) => c.field < 0);
    this.functions.t = t;
    return other.satisfied(q, 1e-9).every(Boolean) && other.excess(q, u).every((x) => x <= 0);
  }

  check(q, u) {
    const excess = this.excess(q, u), worst = excess.reduce((best, x, k) => (x > excess[best] ? k : best), 0);
    if (excess.length && !(excess[worst] <= 0)) {
      const c = this.active[worst];
      throw new BadSetting(c.field >= 0 ? `${c.name} = ${this.values[c.field]} contradicts the constraints at this position` : `no velocities satisfy “${c.name}” together with the given ones`);
    }
    for (const c of this.active)
      if (c.curved && !this.conditions(q, u).C[this.active.indexOf(c)].some((x) => x !== 0))
        throw new BadSetting(`“${c.name}” cannot be satisfied from this state: its slope in the velocities vanishes here; give velocities that differ from zero`);
  }
}
