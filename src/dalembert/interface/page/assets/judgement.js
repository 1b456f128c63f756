// What is wrong with a run that was made in the page: the warnings of a run in Python, by the same limits.
"use strict";

const Judgement = {
  // sentences; none for a run that can be trusted
  of(panel, result) {
    return [...Judgement.energy(panel), ...Judgement.constraints(panel, result), ...Judgement.speeds(panel, result)];
  },

  size: (x) => x.toExponential(1).replace("-", "−"),

  // E_Z = K₂ + 𝒰 + Z is constant on every motion
  energy(panel) {
    const drift = panel.values("drift"), limits = panel.data.limits, worst = drift ? Judgement.largest(drift.v) : 0;
    if (!(worst > 0 && worst > Math.min(limits.small, Judgement.allowed(panel)))) return [];
    if (worst > limits.lost) return [`This is the integrator's error, not the system's motion: the relative change of the energy integral is ${Judgement.size(worst)}. Give a smaller tolerance.`];
    return [`Relative energy error ${Judgement.size(worst)}: give a smaller tolerance.`];
  },

  // tolerances that explain an energy error, of max(|K₂| + |𝒰| + |Z|) relative to the scale of the drift
  allowed(panel) {
    const { data, result } = panel, { states, t } = result.steps, n = data.n_q + data.n_u, wide = states.length / t.length, tolerance = panel.named("Run", "tolerance").now;
    let size = 0;
    for (let i = 0; i < t.length; i++) for (let k = 0; k < n; k++) size = Math.max(size, Math.abs(states[i * wide + k]));
    const [K2, V, Z] = ["K2", "V", "Z"].map((kind) => panel.values(kind).v), most = (f) => Math.max(...K2.map((_, i) => f(i)));
    const energies = most((i) => Math.abs(K2[i]) + Math.abs(V[i]) + Math.abs(Z[i])), scale = most((i) => K2[i] + Math.abs(V[i] - V[0]) + Math.abs(Z[i])) || 1;
    return Math.max(data.limits.excessive * Math.max(tolerance, 1e-12, size ? tolerance / size : 0) * energies, tolerance) / scale;
  },

  constraints(panel, { steps }) {
    const { data } = panel, out = data.parts.outputs.out, names = data.limits.rows, found = [];
    names.forEach((name, k) => {
      let worst = 0;
      for (let i = 0; i < steps.t.length; i++) worst = Math.max(worst, Math.abs(steps.outputs[i * out + data.outputs.residuals + k]));
      if (!(worst <= data.limits.small)) found.push([worst, name]);
    });
    found.sort((a, b) => b[0] - a[0]);
    return found.slice(0, 1).map(([worst, name]) => `The constraint “${name}” is violated by up to ${Judgement.size(worst)}.`);
  },

  // rates that are a large multiple of the speeds: the speeds do not determine them near there
  speeds(panel, { steps }) {
    const { data } = panel, { steep, entries } = data.limits, out = data.parts.outputs.out;
    let worst = null;
    entries.forEach((name, k) => {
      let most = 0, least = Infinity, when = 0;
      for (let i = 0; i < steps.t.length; i++) {
        const x = Math.abs(steps.outputs[i * out + data.outputs.entries + k]);
        if (x > most) { most = x; when = steps.t[i]; }
        least = Math.min(least, x);
      }
      if (most > steep * Math.max(1, least) && (!worst || most > worst.most)) worst = { most, when, name };
    });
    return worst ? [`Near t = ${Charts.label(worst.when)} the rate of ${worst.name} is ${Judgement.size(worst.most)} times a speed: the speeds are singular close to that position.`] : [];
  },

  largest(v) { let most = 0; for (const x of v) most = Math.max(most, Number.isNaN(x) ? Infinity : Math.abs(x)); return most; },
};
