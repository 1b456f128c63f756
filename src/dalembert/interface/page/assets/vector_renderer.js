// The scene as SVG: solids, lines and traces become polygons and paths, the farthest first.
"use strict";

class VectorRenderer {
  // of: the renderer whose shapes and buffers are drawn
  constructor(of, width, height) {
    Object.assign(this, { of, width, height, faces: [] });
    // states of the graphics card have no meaning here
    this.gl = new Proxy({}, { get: () => () => undefined });
  }

  begin(camera, eye, up, light) { Object.assign(this, { camera, eye, up, light }); }

  // [x, y, depth] on the picture; null behind the eye
  project(p) {
    const m = this.camera, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    if (w < 1e-6) return null;
    return [((m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w + 1) / 2 * this.width, (1 - (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w) / 2 * this.height, w];
  }

  static ink(colour) { return `rgb(${colour.slice(0, 3).map((x) => Math.round(255 * Math.max(0, Math.min(1, x)))).join(" ")})`; }

  draw(kind, model, sizes, colour, { alpha = 1 } = {}) {
    // shadows are left out
    if (colour[0] < 0) return;
    const { position, faces } = this.of.meshes[kind].shape, world = [];
    for (let k = 0; k < position.length; k += 3) {
      const [x, y, z] = [0, 1, 2].map((i) => position[k + i] * sizes[i]);
      world.push([0, 1, 2].map((i) => model[i] * x + model[4 + i] * y + model[8 + i] * z + model[12 + i]));
    }
    for (let k = 0; k < faces.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => world[faces[k + i]]), n = V.unit(V.cross(V.sub(b, a), V.sub(c, a))), away = V.dot(n, V.sub(this.eye, a)), p = [a, b, c].map((x) => this.project(x));
      if (p.some((x) => !x)) continue;
      const m = away < 0 ? V.scale(n, -1) : n, shade = 0.34 + 0.14 * (1 + V.dot(m, this.up)) + 0.52 * Math.max(0, V.dot(m, this.light));
      this.add(p, `fill="${VectorRenderer.ink(colour.map((x) => x * shade))}" stroke="${VectorRenderer.ink(colour.map((x) => x * shade))}" stroke-width=".4"${alpha < 1 ? ` opacity="${alpha}"` : ""}`, true);
    }
  }

  rod(...given) { return Renderer.prototype.rod.apply(this, given); }

  path(points, width, colour) {
    for (let k = 1; k < points.length; k++) {
      const p = [points[k - 1], points[k]].map((x) => this.project(x));
      if (p.every(Boolean)) this.add(p, `fill="none" stroke="${VectorRenderer.ink(colour)}" stroke-width="${width}" stroke-linecap="round" opacity="${colour[3] ?? 1}"`, false);
    }
  }

  polyline(buffer, first, count, width, colour) {
    const x = buffer.numbers;
    if (count > 0 && x) this.path(Array.from({ length: count + 1 }, (_, k) => Array.from(x.subarray(3 * (first + k), 3 * (first + k) + 3))), width, colour);
  }

  floor(o, x, y, reach, cell, origin, colour) {
    const lines = 12;
    for (let k = -lines; k <= lines; k++)
      for (const [a, b, at] of [[x, y, origin[0]], [y, x, origin[1]]]) {
        const off = k * cell - (at % cell), p = V.add(o, V.scale(a, off)), reachOf = lines * cell;
        this.path([-1, -0.5, 0, 0.5, 1].map((s) => V.add(p, V.scale(b, s * reachOf))), 0.7, [...colour, 0.3 * (1 - Math.abs(k) / (lines + 1))]);
      }
  }

  add(points, style, closed) { this.faces.push({ depth: points.reduce((sum, p) => sum + p[2], 0) / points.length, text: `<path d="M${points.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}${closed ? "Z" : ""}" ${style}/>` }); }

  text(background) {
    const drawn = this.faces.sort((a, b) => b.depth - a.depth).map((f) => f.text).join("\n");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}"><rect width="100%" height="100%" fill="${background}"/>\n${drawn}\n</svg>\n`;
  }
}

// the picture that a stage shows now
function vectorPicture(stage) {
  const own = stage.renderer, drawn = new VectorRenderer(own, stage.canvas.clientWidth, stage.canvas.clientHeight);
  try { stage.renderer = drawn; stage.paint(); } finally { stage.renderer = own; }
  stage.draw();
  return drawn.text(getComputedStyle(stage.canvas).getPropertyValue("--paper").trim());
}
