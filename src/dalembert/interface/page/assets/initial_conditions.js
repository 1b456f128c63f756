// q(t₀) and u(t₀) from the given values by the native search of the module: its memory, the
// conditions that are given, and the message where it fails.
"use strict";

// codes of failure (runtime/states/assembly_ir.py)
const POSITIONS = 1, UNDEFINED = 2, VELOCITIES = 3, RATES = 4, FLAT = 6;

class BadSetting extends Error {
  constructor(message, field = null) { super(message); this.field = field; }
}

class InitialConditions {
  constructor(engine) {
    const d = engine.data.start;
    Object.assign(this, { engine, data: d, n: d.sizes.n, n_x: d.states.length, names: [] });
    this.problem = new Structure(engine, d.fields);
    const sizes = { given: engine.data.starts.length, q: this.n, u: d.sizes.n_u, qdot: this.n, at_rest: this.n, guessed: this.n, first_u: d.sizes.n_u, guessed_u: d.sizes.n_u, ...d.scratch };
    for (const [memory, table] of Object.entries(d.tables)) sizes[memory] = table.constants.length;
    for (const [name, x] of Object.entries({ ...d.numbers, ...d.indices })) sizes[name] = x.length;
    for (const [name, memory] of [["places", "D"], ["g_places", "e"]]) sizes[name] = d.tables[memory].places.length;
    this.at = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, engine.room(size)]));
    this.sizes = sizes;
  }

  of(name, count = this.sizes[name]) { return this.engine.numbers(this.at[name], count); }
  whole(name, values) { values.forEach((x, k) => { this.engine.i32[this.at[name] / 4 + 2 * k] = x; this.engine.i32[this.at[name] / 4 + 2 * k + 1] = x < 0 ? -1 : 0; }); }
  marks(name, count) { return Array.from({ length: count }, (_, k) => this.engine.i32[this.at[name] / 4 + 2 * k] !== 0); }

  // the conditions that are given, by number; the rows of the system always hold
  choose(asked) {
    const key = asked.map(Number).join("");
    this.problem.set({ t: this.data.t, n_nudges: this.data.sizes.n_nudges });
    if (key === this.key) return;
    this.key = key;
    const { data: d, engine: e, n } = this, { sizes: s, indices: i, tables } = d, all = (count) => Array.from({ length: count }, (_, k) => k);
    const rows = all(s.m).filter((k) => i.target_from[k] < 0 || asked[i.target_from[k]]);
    const fast = all(s.k).filter((k) => k >= s.n_given || asked[i.value_from[k]]);
    const coordinates = all(s.n_coordinates).filter((k) => asked[i.coordinate_from[k]]), direct = all(s.n_direct).filter((k) => asked[i.direct_from[k]]);
    const fixed = new Array(n).fill(0), pick = (name, ks, width = 1) => ks.flatMap((k) => i[name].slice(k * width, (k + 1) * width));
    for (const k of coordinates) fixed[i.coordinate_to[k]] = 1;
    const chosen = { target_from: pick("target_from", rows), structure: pick("structure", rows, n), value_from: pick("value_from", fast.filter((k) => k < s.n_given)), coordinate_from: pick("coordinate_from", coordinates), coordinate_to: pick("coordinate_to", coordinates), direct_from: pick("direct_from", direct), direct_to: pick("direct_to", direct), fixed, curved: i.curved.map((k) => fast.indexOf(k)) };
    for (const [name, values] of Object.entries({ ...i, ...chosen })) this.whole(name, values);
    this.of("own_target").set(rows.map((k) => d.numbers.own_target[k]));
    this.of("nudges").set(d.numbers.nudges);
    const pointers = Object.fromEntries(Object.entries(this.at).filter(([name]) => name !== "e"));
    this.problem.clear();
    this.problem.set({ ...s, ...pointers, m: rows.length, k: fast.length, n_given: chosen.value_from.length, n_coordinates: coordinates.length, n_direct: direct.length, t: d.t });
    Object.assign(this, { rows, fast });
    const keep = { r: rows, J: rows, c: fast, C: fast, terms: fast, entries: fast };
    this.table("D", "places", keep, { r: s.m, J: s.m, c: s.k, C: s.k, terms: s.k, entries: s.k });
    this.table("e", "g_places", {}, {});
    for (const [name, part, field] of [["conditions", e.parts.conditions, "f"], ["nonlinear", e.parts.nonlinear, "g"]])
      if (part) this.problem.set({ [field]: e.pointer(name), [field === "f" ? "p" : "g_p"]: part.at.p, [`${field}_work`]: part.at.work, ...(field === "f" ? { outs: part.at.out } : { g_outs: part.at.out }) });
  }

  // named arrays of a table with only the rows that are kept; the others are written behind them
  table(memory, places, keep, counts) {
    const { constants, places: from, arrays } = this.data.tables[memory], to = new Int32Array(constants.length).fill(-1), room = this.of(memory), where = {};
    let next = 0;
    for (const [name, [begin, end]] of Object.entries(arrays)) {
      where[name] = this.at[memory] + 8 * next;
      const width = counts[name] ? (end - begin) / counts[name] : 0, kept = keep[name];
      if (!kept) for (let k = begin; k < end; k++) to[k] = next++;
      else for (const row of kept) for (let k = 0; k < width; k++) to[begin + row * width + k] = next++;
    }
    for (let k = 0; k < to.length; k++) if (to[k] < 0) to[k] = next++;
    constants.forEach((x, k) => { room[to[k]] = x; });
    this.whole(places, from.map((k) => to[k]));
    this.problem.set(where);
    this.where = { ...this.where, ...where };
  }

  // first-order states are parameters of the rows
  parameters(x) {
    const e = this.engine;
    for (const part of [e.parts.conditions, e.parts.nonlinear])
      if (part && this.n_x) {
        this.data.states.forEach((name, k) => { const at = part.p.indexOf(name); if (at >= 0) e.f64[part.at.p / 8 + at] = x[k]; });
        e.call[`${part.name}.prologue`](part.at.p, part.at.work);
      }
  }

  // { q, u } for the chosen fields; `nearest` are positions to begin at
  solve(asked, values, nearest = null) {
    const { data: d, n } = this, given = values.slice(), first = (nearest ?? d.q).slice(0, n), x = d.q.slice(n);
    for (const one of d.quaternions) InitialConditions.unit(one, asked, given);
    for (const [k, place] of d.first_order) if (asked[k]) x[place] = given[k];
    this.choose(asked);
    this.parameters(x);
    this.of("given").set(given);
    const near = Object.values(d.guess).filter(([k]) => k < n), bent = Object.values(d.bent);
    if (!nearest) for (const [k, value] of near) first[k] = value;
    this.of("at_rest").set(first);
    this.whole("guessed", first.map((_, k) => +near.some(([j]) => j === k)));
    this.of("first_u").fill(0);
    for (const [k, value] of bent) this.of("first_u")[k] = value;
    this.whole("guessed_u", Array.from({ length: d.sizes.n_u }, (_, k) => +bent.some(([j]) => j === k)));
    const code = Number(this.engine.call["initial.solve_start"](this.problem.at));
    if (this.failure[code]) throw new BadSetting(this.failure[code](given));
    return { q: [...this.of("q"), ...x], u: Array.from(this.of("u")) };
  }

  // a quaternion that is given whole is brought to length one, and its rates with it
  static unit({ frame, e, rates }, asked, values) {
    if (!e.every((k) => asked[k])) return;
    const length = Math.hypot(...e.map((k) => values[k]));
    if (length === 0) throw new BadSetting(`four zeros are no orientation: give the quaternion of ${frame} a length, such as (1, 0, 0, 0) for no rotation`);
    if (Math.abs(length - 1) > 1e-12) for (const k of [...e, ...rates]) if (asked[k]) values[k] /= length;
  }

  // the constraints alone, at positions q and time t
  bare(q, t) {
    this.choose(this.engine.data.starts.map(() => false));
    this.parameters(q.slice(this.n));
    this.of("q").set(q.slice(0, this.n));
    this.problem.set({ t, n_nudges: 0 });
    this.engine.call["initial.place_targets"](this.problem.at);
  }

  // what remains of the constraints on positions, and their slopes
  positionRows(q, t) {
    const { n } = this;
    this.bare(q, t);
    this.engine.call["initial.evaluate"](this.at.q, this.problem.at);
    const m = this.rows.length, J = this.engine.numbers(this.where.J, m * n);
    return { r: Array.from(this.of("residuals", m)), J: this.rows.map((_, k) => Array.from(J.subarray(k * n, (k + 1) * n))) };
  }

  // positions near q that satisfy the constraints, or null
  closed(q, t) {
    this.bare(q, t);
    if (Number(this.engine.call["initial.assemble"](this.problem.at))) return null;
    const found = [...this.of("q"), ...q.slice(this.n)];
    return this.positionRows(found, t).r.every((x) => Math.abs(x) <= DRAG_RESIDUAL) ? found : null;
  }

  // whether a state at time t satisfies the rows of the system, without the given initial values
  holds(q, u, t) {
    this.bare(q, t);
    this.of("u").set(u);
    return Boolean(this.engine.call["initial.consistent"](this.problem.at) & 1);
  }

  // ---- what it fails for ---------------------------------------------------------------------

  failure = {
    [POSITIONS]: () => this.contradiction(),
    [UNDEFINED]: () => "a given velocity is not defined at these positions: start elsewhere",
    [VELOCITIES]: (given) => {
      const k = this.fast[this.problem.get("worst")], name = this.data.velocities[k];
      return k < this.data.sizes.n_given ? `${name} = ${given[this.data.indices.value_from[k]]} contradicts the constraints at this position` : `no velocities satisfy “${name}” together with the given ones`;
    },
    [RATES]: () => "the rates of some coordinates cannot be computed from the speeds at these positions (division by zero): start elsewhere",
    [FLAT]: () => `“${this.data.velocities[this.fast[this.problem.get("worst")]]}” cannot be satisfied from this state: its slope in the velocities vanishes here; give velocities that differ from zero`,
  };

  contradiction() {
    const r = Array.from(this.of("residuals", this.rows.length)), worst = this.problem.get("worst"), name = this.data.rows[this.rows[worst]], closes = this.data.between[name];
    if (Number.isNaN(r[worst])) return `“${name}” has no real value at these positions`;
    if (closes && this.marks("columns", this.n).some(Boolean)) {
      const same = r.filter((_, k) => (this.data.between[this.data.rows[this.rows[k]]] || [])[0] === closes[0]);
      return `“${closes[0]}” cannot be closed: ${closes[1]} and ${closes[2]} stay ${Math.hypot(...same).toPrecision(3)} apart at the nearest position found; change a length or a start value`;
    }
    return `no position satisfies “${name}”: the nearest leaves ${r[worst].toPrecision(3)}; change a length or a start value`;
  }
}
