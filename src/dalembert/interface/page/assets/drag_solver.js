// Positions that bring a point of a body to the pointer and satisfy all constraints: steps of least
// norm within a radius, each closed by the native search for positions.
"use strict";

// weight of the pointer against the constraints in a step, and the longest step
const DRAG_STEPS = 8, DRAG_WEIGHT = 1e-3, DRAG_CUTOFF = 1e-6, DRAG_RADIUS = 0.5, DRAG_RESIDUAL = 1e-10;

class DragSolver {
  // body: number of the body in the scene; local: the point that was taken, in the axes of the body
  constructor(engine, { values, q, body, local }) {
    Object.assign(this, { engine, body, local, t: engine.data.start.t });
    engine.give(values);
    // at the time of the initial conditions, where prescribed motions may differ
    this.q = engine.initial.closed(q, this.t) ?? q.slice();
    this.u = new Array(engine.data.n_u).fill(0);
    this.size = Math.max(1, ...q.map(Math.abs));
  }

  point(q) {
    const { data } = this.engine, at = data.outputs, o = this.engine.evaluate("outputs", q, this.u, this.t), G = at.centres[this.body], F = at.frames[this.body];
    if (F < 0) return [o[G], o[G + 1], o[G + 2]];
    return [0, 1, 2].map((i) => o[G + i] + [0, 1, 2].reduce((sum, j) => sum + o[F + 3 * i + j] * this.local[j], 0));
  }

  // the slopes of the point, a row for each direction
  slopes(q, here, n) {
    const h = 1e-6 * this.size, columns = Array.from({ length: n }, (_, k) => this.point(q.map((y, j) => (j === k ? y + h : y))).map((p, i) => (p - here[i]) / h));
    return [0, 1, 2].map((i) => columns.map((column) => column[i]));
  }

  // a step of least norm that the constraints allow and that leads the point towards the pointer
  step(q, gap, here, radius) {
    const { n } = this.engine.initial, { r, J } = this.engine.initial.positionRows(q, this.t), P = this.slopes(q, here, n), size = Math.hypot(...P.flat()) || 1, k = DRAG_WEIGHT / size;
    const lengths = J.map((row) => Math.hypot(...row) || 1), rows = [...J.map((row, i) => row.map((x) => x / lengths[i])), ...P.map((row) => row.map((x) => k * x))];
    return this.engine.leastSquares(rows, [...r.map((x, i) => -x / lengths[i]), ...gap.map((x) => k * x)], n, DRAG_CUTOFF, radius);
  }

  // the positions for a pointer at `target`
  move(target) {
    const away = (p) => Math.hypot(...target.map((x, i) => x - p[i])), start = this.engine.initial;
    let { q } = this, here = this.point(q), radius = DRAG_RADIUS * this.size;
    for (let k = 0; k < DRAG_STEPS; k++) {
      const way = this.step(q, target.map((x, i) => x - here[i]), here, radius), length = Math.hypot(...way);
      if (!(length > 1e-9 * this.size)) break;
      const next = start.closed(q.map((x, j) => x + (way[j] ?? 0)), this.t), there = next && this.point(next);
      if (next && away(there) < away(here)) { q = next; here = there; } else radius = length / 3;
    }
    this.q = q;
    return { q, residual: Math.max(...start.positionRows(q, this.t).r.map(Math.abs), 0) };
  }
}
