// A body taken by mouse or finger: the worker finds positions that satisfy the constraints, the start of the next run follows.
"use strict";

class Drag {
  constructor(panel, stage) {
    Object.assign(this, { panel, stage, held: null, pending: false, history: [], worst: 0 });
    // the stage asks first whether a body was taken, and turns the view otherwise
    stage.grab = (e) => this.take(e);
  }

  // the eye's ray through a pointer
  ray(e) {
    const { stage } = this, box = stage.canvas.getBoundingClientRect(), { eye, side, head, back } = stage.eye, aspect = box.width / box.height, tangent = Math.tan(14 * Math.PI / 180);
    const x = (2 * (e.clientX - box.left) / box.width - 1) * tangent * aspect, y = (1 - 2 * (e.clientY - box.top) / box.height) * tangent;
    return { from: eye, way: V.unit(V.add(V.add(V.scale(side, x), V.scale(head, y)), V.scale(back, -1))) };
  }

  // the body that a ray meets first, by a box around it
  hit({ from, way }) {
    const { stage } = this;
    let best = null;
    stage.bodies.forEach((b, k) => {
      const axes = stage.axesOf(b), o = stage.at(b.r), reach = b.sizes.map((x) => 1.15 * x + 0.35 * stage.data.view.stick);
      const away = V.sub(from, o);
      let near = -Infinity, far = Infinity;
      axes.forEach((axis, i) => {
        const p = V.dot(away, axis), v = V.dot(way, axis);
        if (Math.abs(v) < 1e-12) { if (Math.abs(p) > reach[i]) near = Infinity; return; }
        const [a, c] = [(-reach[i] - p) / v, (reach[i] - p) / v].sort((s, t) => s - t);
        near = Math.max(near, a); far = Math.min(far, c);
      });
      if (near <= far && far > 0 && (!best || near < best.near)) best = { k, near: Math.max(near, 0) };
      // bars between the joints of a body
      if (b.e) for (const [p, q] of b.bars) {
        const [x, y, z] = stage.turned(b.e), world = (l) => V.add(o, V.add(V.add(V.scale(x, l[0]), V.scale(y, l[1])), V.scale(z, l[2])));
        const t = Drag.nearBar(from, way, world(p), world(q), 2 * stage.data.view.stick);
        if (t !== null && (!best || t < best.near)) best = { k, near: t };
      }
    });
    return best;
  }

  // how far along a ray it passes a bar within a radius, or null
  static nearBar(from, way, a, b, radius) {
    const d = V.sub(b, a), w = V.sub(from, a), dd = V.dot(d, d), wd = V.dot(way, d), k = dd - wd * wd;
    if (dd < 1e-18) return null;
    const s = Math.max(0, Math.min(1, k > 1e-12 * dd ? (V.dot(w, d) - V.dot(way, w) * wd) / k : 0)), p = V.add(a, V.scale(d, s)), t = V.dot(V.sub(p, from), way);
    return t > 0 && V.norm(V.sub(V.add(from, V.scale(way, t)), p)) < radius ? t : null;
  }

  take(e) {
    const { panel, stage } = this;
    if (!panel.ready || !stage.eye || e.shiftKey || e.button > 0) return false;
    const ray = this.ray(e), found = this.hit(ray);
    if (!found) return false;
    const b = stage.bodies[found.k], at = V.add(ray.from, V.scale(ray.way, found.near)), G = stage.at(b.r), axes = b.e ? stage.turned(b.e) : [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const away = V.sub(at, G), q = panel.positions(stage.time), grip = { body: found.k, local: axes.map((axis) => V.dot(away, axis)) };
    if (!q) return false;
    const moving = panel.clock.playing;
    panel.clock.play(false);
    this.held = { body: found.k, normal: stage.eye.back, at, q };
    this.history = [];
    stage.canvas.classList.add("held");
    if (moving) return this.pull(grip);
    panel.w.postMessage({ grab: { values: panel.setting().values, q, ...grip } });
    return { move: (event) => this.move(event), drop: () => this.drop() };
  }

  // a body that moves is pulled to the pointer by a spring
  pull(grip) {
    const { panel, stage } = this, { clock } = panel, held = this.held;
    Object.assign(held, { target: held.at, before: performance.now(), pulling: true });
    panel.w.postMessage({ push: { id: panel.result ? panel.shown : -1, setting: panel.setting(), t: clock.time, speed: clock.speed, ...grip } });
    const step = () => {
      if (this.held !== held) return;
      const now = performance.now();
      if (!this.pending && now > held.before) { this.pending = true; panel.w.postMessage({ pushTo: { target: held.target, seconds: (now - held.before) / 1000 } }); held.before = now; }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    return { move: (event) => { held.target = this.target(event); }, drop: () => {
      if (this.held !== held) return;
      this.held = null; this.pending = false; stage.tether = null;
      stage.canvas.classList.remove("held");
      panel.release();
    } };
  }

  // where the body is now; the spring is drawn to the pointer
  pushed(state) {
    this.pending = false;
    if (!this.held?.pulling) return;
    this.worst = Math.max(this.worst, state.residual);
    this.history.push([state.t, state.q]);
    this.stage.tether = [state.point, this.held.target];
    this.panel.pushed(state);
  }

  // the pointer in the plane through the point that was taken
  target(e) {
    const { from, way } = this.ray(e), { normal, at } = this.held, k = V.dot(way, normal);
    return Math.abs(k) < 1e-9 ? at : V.add(from, V.scale(way, V.dot(V.sub(at, from), normal) / k));
  }

  move(e) {
    if (!this.held) return;
    this.wanted = this.target(e);
    if (this.pending) return;
    this.pending = true;
    this.panel.w.postMessage({ pull: this.wanted });
    this.wanted = null;
  }

  // the worker's positions: shown at once
  pose(found) {
    this.pending = false;
    if (!this.held) return;
    this.held.q = found.q;
    this.worst = Math.max(this.worst, found.residual);
    this.history.push([performance.now(), found.q]);
    if (this.history.length > 4) this.history.shift();
    this.panel.posed(found);
    if (this.wanted) { this.pending = true; this.panel.w.postMessage({ pull: this.wanted }); this.wanted = null; }
  }

  // the next run starts there; what was let go while it moved is thrown
  drop() {
    if (!this.held) return;
    const { q } = this.held, [first] = this.history, last = this.history.at(-1);
    this.held = null;
    this.stage.canvas.classList.remove("held");
    const moved = last && performance.now() - last[0] < 80 && last[0] - first[0] > 15;
    const rates = moved ? last[1].map((x, k) => 1000 * (x - first[1][k]) / (last[0] - first[0])) : null;
    this.panel.startAt(q, rates);
  }
}
