// Small dense matrices, as rows of numbers: singular values, least squares of least norm, rank.
"use strict";

const Algebra = {
  // A = U diag(s) Vᵀ by one-sided Jacobi rotations; columns of U and V as rows of the results, largest s first
  svd(A) {
    const m = A.length, n = m ? A[0].length : 0;
    if (m < n) {
      const { U, s, V } = Algebra.svd(Algebra.transposed(A, n));
      return { U: V, s, V: U };
    }
    const u = Algebra.transposed(A, n), v = u.map((_, j) => Array.from({ length: n }, (_, i) => +(i === j)));
    const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    for (let sweep = 0; sweep < 60; sweep++) {
      let turned = false;
      for (let i = 0; i < n; i++)
        for (let j = i + 1; j < n; j++) {
          const a = dot(u[i], u[i]), b = dot(u[j], u[j]), c = dot(u[i], u[j]);
          if (!(Math.abs(c) > 1e-16 * Math.sqrt(a * b))) continue;
          turned = true;
          const zeta = (b - a) / (2 * c), t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta)), cs = 1 / Math.hypot(1, t), sn = cs * t;
          for (const w of [u, v])
            for (let k = 0; k < w[i].length; k++) { const x = w[i][k], y = w[j][k]; w[i][k] = cs * x - sn * y; w[j][k] = sn * x + cs * y; }
        }
      if (!turned) break;
    }
    const size = u.map((x) => Math.hypot(...x)), order = size.map((_, k) => k).sort((i, j) => size[j] - size[i]);
    return { U: order.map((k) => u[k].map((x) => (size[k] ? x / size[k] : 0))), s: order.map((k) => size[k]), V: order.map((k) => v[k]) };
  },

  transposed: (A, n) => Array.from({ length: n }, (_, j) => A.map((row) => row[j])),

  times: (A, x) => A.map((row) => row.reduce((sum, a, k) => sum + a * x[k], 0)),

  // the x of least norm among those nearest to A x = b; singular values below a part of the largest count as zero
  leastSquares(A, b, n, part = 1e-10) {
    const x = new Array(n).fill(0);
    if (!A.length || !n) return x;
    const { U, s, V } = Algebra.svd(A);
    s.forEach((size, k) => {
      if (!(size > part * s[0])) return;
      const along = U[k].reduce((sum, u, i) => sum + u * b[i], 0) / size;
      for (let j = 0; j < n; j++) x[j] += along * V[k][j];
    });
    return x;
  },

  rank(A, part = 1e-12) {
    if (!A.length || !A[0].length) return 0;
    const { s } = Algebra.svd(A);
    return s.filter((x) => x > part * s[0]).length;
  },

  norm: (x) => Math.hypot(...x),
};
