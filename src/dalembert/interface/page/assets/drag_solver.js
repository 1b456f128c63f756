// Positions that bring a point of a body to the pointer and satisfy all constraints: damped least squares in the null space of the rows.
"use strict";

const DRAG_STEPS = 6, DRAG_RESIDUAL = 1e-12;

class DragSolver {
  // body: number of the body in the scene; local: the point that was taken, in the axes of the body
  constructor(engine, { values, q, body, local }) {
    Object.assign(this, { engine, body, local, t: engine.data.start.t });
    engine.give(values);
    this.q = q.slice();
    this.u = new Array(engine.data.n_u).fill(0);
    this.size = Math.max(1, ...q.map(Math.abs));
  }

  point(q) {
    const { data } = this.engine, at = data.outputs, o = this.engine.evaluate("outputs", q, this.u, this.t), G = at.centres[this.body], F = at.frames[this.body];
    if (F < 0) return [o[G], o[G + 1], o[G + 2]];
    return [0, 1, 2].map((i) => o[G + i] + [0, 1, 2].reduce((sum, j) => sum + o[F + 3 * i + j] * this.local[j], 0));
  }

  rows(q) {
    const d = this.engine.data.start, n = q.length, m = d.rows.length, found = m ? this.engine.evaluate("positions", q, this.u, this.t) : [];
    // given initial values are no constraints of the system
    const own = d.rows.flatMap((row, k) => (row.field < 0 ? [k] : []));
    return { r: own.map((k) => found[k] - d.rows[k].target), J: own.map((k) => Array.from(found.subarray(m + n * k, m + n * k + n))) };
  }

  slopes(q, here) {
    return Algebra.transposed(q.map((x, k) => {
      const h = 1e-6 * this.size, there = this.point(q.map((y, j) => (j === k ? x + h : y)));
      return there.map((p, i) => (p - here[i]) / h);
    }), 3);
  }

  // the positions for a pointer at `target`
  move(target) {
    let q = this.q;
    for (let step = 0; step < DRAG_STEPS; step++) {
      const here = this.point(q), gap = target.map((x, i) => x - here[i]), { r, J } = this.rows(q), n = q.length;
      const back = Algebra.leastSquares(J, r.map((x) => -x), n), free = DragSolver.nullSpace(J, n), P = this.slopes(q, here);
      const along = P.map((row) => free.map((v) => row.reduce((sum, a, k) => sum + a * v[k], 0))), left = gap.map((x, i) => x - P[i].reduce((sum, a, k) => sum + a * back[k], 0));
      const z = free.length ? DragSolver.damped(along, left, free.length) : [], way = q.map((_, k) => back[k] + z.reduce((sum, x, i) => sum + x * free[i][k], 0));
      const longest = Math.max(...way.map(Math.abs), 0), part = longest > 0.5 * this.size ? 0.5 * this.size / longest : 1;
      const next = this.closed(q.map((x, k) => x + part * way[k]));
      if (!next) break;
      q = next;
      if (longest < 1e-9 * this.size) break;
    }
    this.q = q;
    return { q, residual: Math.max(...this.rows(q).r.map(Math.abs), 0) };
  }

  // back onto the constraints; null where they cannot be satisfied near there
  closed(q) {
    let before = Infinity;
    for (let step = 0; step < 12; step++) {
      const { r, J } = this.rows(q), size = Math.max(...r.map(Math.abs), 0);
      if (!(size < 1e6)) return null;
      if (size <= DRAG_RESIDUAL || (size <= 1e-10 && size >= 0.5 * before)) return q;
      before = size;
      const back = Algebra.leastSquares(J, r.map((x) => -x), q.length);
      q = q.map((x, k) => x + back[k]);
    }
    return Math.max(...this.rows(q).r.map(Math.abs), 0) <= 1e-10 ? q : null;
  }

  // directions that leave the constraints satisfied, as orthonormal rows
  static nullSpace(J, n) {
    const units = Array.from({ length: n }, (_, k) => Array.from({ length: n }, (_, j) => +(j === k)));
    if (!J.length) return units;
    const { s, V } = Algebra.svd(J), range = V.filter((_, k) => s[k] > 1e-9 * s[0]), found = [];
    for (const e of units) {
      let v = e;
      for (let twice = 0; twice < 2; twice++) for (const b of [...range, ...found]) { const k = v.reduce((sum, x, i) => sum + x * b[i], 0); v = v.map((x, i) => x - k * b[i]); }
      const length = Algebra.norm(v);
      if (length > 1e-3 && found.length < n - range.length) found.push(v.map((x) => x / length));
    }
    return found;
  }

  // (Aᵀ A + μ 1) z = Aᵀ b by singular values: directions that do not move the point stay still
  static damped(A, b, n) {
    const { U, s, V } = Algebra.svd(A), z = new Array(n).fill(0), mu = (1e-3 * (s[0] || 1)) ** 2;
    s.forEach((size, k) => {
      const along = size / (size * size + mu) * U[k].reduce((sum, u, i) => sum + u * b[i], 0);
      for (let j = 0; j < n; j++) z[j] += along * V[k][j];
    });
    return z;
  }
}
