// A small renderer: solids, links, traces and arrows of one mechanical system, with a z-buffer, in plain WebGL.
"use strict";

const Arrays = {
  // numbers travel as base64 of little-endian floats
  read(text, Kind = Float32Array) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  },
};

const V = {
  add: (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  scale: (a, k) => [a[0] * k, a[1] * k, a[2] * k],
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  norm: (a) => Math.hypot(a[0], a[1], a[2]),
  unit: (a) => V.scale(a, 1 / (V.norm(a) || 1)),
  mix: (a, b, k) => [a[0] + (b[0] - a[0]) * k, a[1] + (b[1] - a[1]) * k, a[2] + (b[2] - a[2]) * k],
};

// column-major 4 × 4
const M4 = {
  times(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++)
      for (let r = 0; r < 4; r++)
        out[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
    return out;
  },
  basis: (x, y, z, o) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...o, 1]),
  looking(eye, right, up, back) {
    return new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -V.dot(right, eye), -V.dot(up, eye), -V.dot(back, eye), 1]);
  },
  perspective(angle, aspect, near, far) {
    const f = 1 / Math.tan(angle / 2);
    return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
  },
};

const Meshes = {
  sphere(n = 20) {
    const p = [], faces = [];
    for (let i = 0; i <= n; i++)
      for (let j = 0; j <= 2 * n; j++) {
        const a = Math.PI * i / n, b = Math.PI * j / n;
        p.push(Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a));
      }
    for (let i = 0; i < n; i++)
      for (let j = 0; j < 2 * n; j++) {
        const k = i * (2 * n + 1) + j, l = k + 2 * n + 1;
        faces.push(k, l, k + 1, k + 1, l, l + 1);
      }
    return { position: p, normal: p, faces };
  },
  cylinder(n = 48, top = 1) {
    const position = [], normal = [], faces = [];
    const tilt = 1 - top, length = Math.hypot(1, tilt / 2);
    for (let j = 0; j <= n; j++) {
      const c = Math.cos(2 * Math.PI * j / n), s = Math.sin(2 * Math.PI * j / n);
      position.push(c, s, -1, c * top, s * top, 1);
      normal.push(c / length, s / length, tilt / 2 / length, c / length, s / length, tilt / 2 / length);
      if (j < n) faces.push(2 * j, 2 * j + 2, 2 * j + 1, 2 * j + 1, 2 * j + 2, 2 * j + 3);
    }
    for (const [z, r] of [[-1, 1], [1, top]]) {
      if (!r) continue;
      const middle = position.length / 3;
      position.push(0, 0, z); normal.push(0, 0, z);
      for (let j = 0; j <= n; j++) {
        position.push(r * Math.cos(2 * Math.PI * j / n), r * Math.sin(2 * Math.PI * j / n), z);
        normal.push(0, 0, z);
        if (j < n) faces.push(middle, middle + 1 + j + (z < 0), middle + 1 + j + (z > 0));
      }
    }
    return { position, normal, faces };
  },
  box() {
    const position = [], normal = [], faces = [];
    for (let axis = 0; axis < 3; axis++)
      for (const side of [-1, 1]) {
        const first = position.length / 3;
        for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
          const p = [0, 0, 0], m = [0, 0, 0];
          p[axis] = side; p[(axis + 1) % 3] = u; p[(axis + 2) % 3] = v; m[axis] = side;
          position.push(...p); normal.push(...m);
        }
        faces.push(first, first + 1, first + 2, first, first + 2, first + 3);
      }
    return { position, normal, faces };
  },
  // triangles with sharp edges: corners between −32767 and 32767, three of them to a triangle
  faceted(corners, triangles) {
    const position = [], normal = [], at = (k) => [0, 1, 2].map((i) => corners[3 * k + i] / 32767);
    for (let k = 0; k < triangles.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => at(triangles[k + i])), n = V.unit(V.cross(V.sub(b, a), V.sub(c, a)));
      position.push(...a, ...b, ...c); normal.push(...n, ...n, ...n);
    }
    return { position, normal, faces: Array.from(triangles, (_, k) => k) };
  },
  // between a line − across and the line + across
  strip(line, across) {
    const position = line.flatMap((p) => [...V.sub(p, across), ...V.add(p, across)]), faces = [], normal = [];
    line.forEach((p, k) => {
      const next = line[k + 1] ?? p, before = line[k + 1] ? p : line[k - 1], n = V.unit(V.cross(V.sub(next, before), across));
      normal.push(...n, ...n);
      if (k) faces.push(2 * k - 2, 2 * k - 1, 2 * k, 2 * k - 1, 2 * k + 1, 2 * k);
    });
    return { position, normal, faces };
  },
  // a flat convex polygon
  plate(corners) {
    const n = V.unit(V.cross(V.sub(corners[1], corners[0]), V.sub(corners[2], corners[0]))), faces = [];
    for (let i = 2; i < corners.length; i++) faces.push(0, i - 1, i);
    return { position: corners.flat(), normal: corners.flatMap(() => n), faces };
  },
};

const SOLID_VS = `#version 300 es
in vec3 position; in vec3 normal;
uniform mat4 camera, model; uniform vec3 sizes;
out vec3 place, n, local;
void main() {
  vec4 world = model * vec4(position * sizes, 1.0);
  place = world.xyz; local = position; n = mat3(model) * (normal / sizes);
  gl_Position = camera * world;
}`;
const SOLID_FS = `#version 300 es
precision highp float;
in vec3 place, n, local;
uniform vec3 colour, eye, up; uniform float alpha, mark; uniform vec3 light;
out vec4 ink;
void main() {
  vec3 m = normalize(n), to = normalize(eye - place);
  if (dot(m, to) < 0.0) m = -m;
  // quadrants in two shades, so that turning is seen
  float edge = 0.0;
  if (mark > 0.5) { vec2 w = fwidth(local.xy) + 1e-5; vec2 s = smoothstep(-w, w, local.xy); edge = s.x + s.y - 2.0 * s.x * s.y; }
  vec3 base = mix(colour, mark > 1.5 ? mix(colour, vec3(1.0), 0.45) : colour * 0.74, edge);
  float sky = 0.5 + 0.5 * dot(m, up), sun = max(dot(m, light), 0.0);
  float shine = pow(max(dot(m, normalize(light + to)), 0.0), 48.0);
  vec3 lit = base * (0.34 + 0.28 * sky + 0.52 * sun) + 0.16 * shine;
  ink = vec4(lit * alpha, alpha);
}`;
const LINE_VS = `#version 300 es
in vec2 corner; in vec3 a, b;
uniform mat4 camera; uniform vec2 window; uniform float width, bias;
void main() {
  vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0);
  // what lies behind the eye is cut off
  float near = 1e-3;
  if (p.w < near && q.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (p.w < near) p = mix(p, q, (near - p.w) / (q.w - p.w));
  if (q.w < near) q = mix(q, p, (near - q.w) / (p.w - q.w));
  vec2 along = (q.xy / q.w - p.xy / p.w) * window;
  float len = length(along);
  along = len > 1e-6 ? along / len : vec2(1.0, 0.0);
  vec4 end = corner.x < 0.5 ? p : q;
  vec2 shift = (vec2(-along.y, along.x) * corner.y + along * (corner.x - 0.5) * 0.6) * width / window;
  gl_Position = vec4(end.xy + shift * end.w, end.z - bias * end.w, end.w);
}`;
const LINE_FS = `#version 300 es
precision highp float;
uniform vec4 colour; out vec4 ink;
void main() { ink = vec4(colour.rgb * colour.a, colour.a); }`;
const GROUND_VS = `#version 300 es
in vec2 corner; uniform mat4 camera; uniform vec3 o, x, y; uniform float reach; out vec2 at;
void main() { at = vec2(corner.x * 2.0 - 1.0, corner.y) * reach; gl_Position = camera * vec4(o + x * at.x + y * at.y, 1.0); }`;
const GROUND_FS = `#version 300 es
precision highp float;
in vec2 at; uniform vec2 origin; uniform float cell, reach; uniform vec3 colour; out vec4 ink;
float lines(vec2 p) { vec2 w = fwidth(p), g = abs(fract(p - 0.5) - 0.5) / w; return (1.0 - min(min(g.x, g.y), 1.0)) / (1.0 + 1.5 * max(w.x, w.y) * 4.0); }
void main() {
  vec2 p = (at + origin) / cell;
  float fade = 1.0 - smoothstep(0.35, 1.0, length(at) / reach);
  float k = (0.30 * lines(p) + 0.34 * lines(p / 5.0) + 0.05) * fade;
  ink = vec4(colour * k, k);
}`;

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    // buffers and vertex arrays of the scene that is shown
    this.ofScene = new Set();
    const gl = this.gl = canvas.getContext("webgl2", { antialias: true, stencil: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL");
    this.solid = this.program(SOLID_VS, SOLID_FS);
    this.line = this.program(LINE_VS, LINE_FS);
    this.ground = this.program(GROUND_VS, GROUND_FS);
    this.meshes = { sphere: this.mesh(Meshes.sphere()), cylinder: this.mesh(Meshes.cylinder()), box: this.mesh(Meshes.box()), cone: this.mesh(Meshes.cylinder(24, 0)) };
    this.corners = this.buffer(new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]));
    this.scratch = gl.createBuffer();
    this.lines = gl.createVertexArray();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.basic = { ...this.meshes };
    this.ofScene.clear();
  }

  // free what a scene has put here
  free(kept = [...this.ofScene]) {
    for (const one of kept) { this.ofScene.delete(one); this.gl[one instanceof WebGLBuffer ? "deleteBuffer" : "deleteVertexArray"](one); }
  }

  // ready for another scene on the same canvas: a new context takes much longer
  clear() { this.free(); this.meshes = { ...this.basic }; return this; }

  program(vertex, fragment) {
    const gl = this.gl, p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(kind);
      gl.shaderSource(s, text); gl.compileShader(s);
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error("this browser's WebGL cannot run the shaders");
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(p, i).name;
      at[name] = gl.getUniformLocation(p, name);
    }
    return { p, at, input: (name) => gl.getAttribLocation(p, name) };
  }

  buffer(numbers, kind = this.gl.ARRAY_BUFFER) {
    const b = this.gl.createBuffer();
    this.gl.bindBuffer(kind, b);
    this.gl.bufferData(kind, numbers, this.gl.STATIC_DRAW);
    b.numbers = numbers;
    this.ofScene.add(b);
    return b;
  }

  mesh({ position, normal, faces }) {
    const gl = this.gl, vao = gl.createVertexArray();
    this.ofScene.add(vao);
    gl.bindVertexArray(vao);
    for (const [name, numbers] of [["position", position], ["normal", normal]]) {
      this.buffer(new Float32Array(numbers));
      const k = this.solid.input(name);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    }
    this.buffer(new Uint16Array(faces), gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(null);
    return { vao, count: faces.length, shape: { position, faces } };
  }

  begin(camera, eye, up, light) {
    const gl = this.gl;
    this.camera = camera;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.solid.p);
    const u = this.solid.at;
    gl.uniformMatrix4fv(u.camera, false, camera);
    gl.uniform3fv(u.eye, eye); gl.uniform3fv(u.up, up); gl.uniform3fv(u.light, light);
  }

  draw(kind, model, sizes, colour, { alpha = 1, mark = 0 } = {}) {
    const gl = this.gl, u = this.solid.at, mesh = this.meshes[kind];
    gl.useProgram(this.solid.p);
    gl.uniformMatrix4fv(u.model, false, model);
    gl.uniform3fv(u.sizes, sizes); gl.uniform3fv(u.colour, colour);
    gl.uniform1f(u.alpha, alpha); gl.uniform1f(u.mark, mark);
    gl.bindVertexArray(mesh.vao);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_SHORT, 0);
  }

  // from a to b
  rod(kind, a, b, r, colour, options) {
    const way = V.sub(b, a), l = V.norm(way);
    if (l < 1e-12) return;
    const z = V.scale(way, 1 / l), first = Math.abs(z[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0];
    const x = V.unit(V.cross(first, z)), y = V.cross(z, x);
    this.draw(kind, M4.basis(x, y, z, V.mix(a, b, 0.5)), [r, r, l / 2], colour, options);
  }

  // a polyline in `buffer`, `count` pieces from piece `first` on
  polyline(buffer, first, count, width, colour, bias = 0) {
    if (count < 1) return;
    const gl = this.gl, p = this.line;
    gl.useProgram(p.p);
    gl.uniformMatrix4fv(p.at.camera, false, this.camera);
    gl.uniform2f(p.at.window, this.canvas.width / 2, this.canvas.height / 2);
    gl.uniform1f(p.at.width, width * (window.devicePixelRatio || 1) / 2); gl.uniform1f(p.at.bias, bias);
    gl.uniform4fv(p.at.colour, colour);
    gl.bindVertexArray(this.lines);
    this.attribute(p.input("corner"), this.corners, 2, 0, 0, 0);
    this.attribute(p.input("a"), buffer, 3, 12, 12 * first, 1);
    this.attribute(p.input("b"), buffer, 3, 12, 12 * first + 12, 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    gl.bindVertexArray(null);
  }

  path(points, width, colour, bias) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.scratch);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(points.flatMap((p) => [...p])), gl.STREAM_DRAW);
    this.polyline(this.scratch, 0, points.length - 1, width, colour, bias);
  }

  attribute(k, buffer, size, stride, offset, divisor) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(k, divisor);
  }

  floor(o, x, y, reach, cell, origin, colour) {
    const gl = this.gl, p = this.ground;
    gl.useProgram(p.p);
    gl.uniformMatrix4fv(p.at.camera, false, this.camera);
    gl.uniform3fv(p.at.o, o); gl.uniform3fv(p.at.x, x); gl.uniform3fv(p.at.y, y);
    gl.uniform1f(p.at.reach, reach); gl.uniform1f(p.at.cell, cell);
    gl.uniform2fv(p.at.origin, origin); gl.uniform3fv(p.at.colour, colour);
    gl.depthMask(false);
    gl.bindVertexArray(this.lines);
    this.attribute(p.input("corner"), this.corners, 2, 0, 0, 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
    gl.depthMask(true);
  }
}

const Surfaces = {
  // places along a line at equal distances, the first at `from`, each with the direction of the line
  stations(line, spacing, from) {
    const places = [], first = ((from % spacing) + spacing) % spacing;
    let done = 0;
    for (let k = 1; k < line.length; k++) {
      const way = V.sub(line[k], line[k - 1]), length = V.norm(way), along = V.unit(way);
      for (let s = first + spacing * Math.ceil((done - first) / spacing); s < done + length; s += spacing) places.push([V.add(line[k - 1], V.scale(along, s - done)), along]);
      done += length;
    }
    return places;
  },
};

// One scene on one canvas: where everything is at a time, and the eye that looks at it.
class Stage {
  constructor(renderer, labels, data) {
    Object.assign(this, { canvas: renderer.canvas, renderer, labels, data, over: new AbortController() });
    const read = (text) => Arrays.read(text);
    this.t = read(data.t);
    this.places = data.places.map((p) => ({ ...p, r: read(p.r) }));
    const where = (r) => typeof r === "number" ? this.places[r].r : read(r);
    this.bodies = data.bodies.map((b) => ({ ...b, r: where(b.r), e: b.e ? read(b.e) : null }));
    this.bodies.forEach((b, k) => { if (b.plate.length) this.renderer.meshes["plate " + k] = this.renderer.mesh(Meshes.plate(b.plate)); });
    this.bodies.forEach((b, k) => {
      if (!b.mesh) return;
      b.kind = "mesh " + k;
      this.renderer.meshes[b.kind] = this.renderer.mesh(Meshes.faceted(Arrays.read(b.mesh[0], Int16Array), Arrays.read(b.mesh[1], Uint16Array)));
    });
    this.curves = data.curves.map((c) => ({ ...c, r: c.r.map(read) }));
    this.surfaces = data.surfaces.map((s) => ({ ...s, shift: read(s.shift), travel: s.travel ? read(s.travel) : null }));
    this.surfaces.forEach((s, k) => { this.renderer.meshes["surface " + k] = this.renderer.mesh(Meshes.strip(s.line, s.across)); });
    this.arrows = data.arrows.map((a) => ({ ...a, at: where(a.at), v: read(a.v) }));
    this.traced = data.traces.map((k) => this.renderer.buffer(this.spread(this.places[k].r)));
    this.recorded = { t: this.t, places: this.places, bodies: this.bodies, curves: this.curves, arrows: this.arrows, traced: this.traced };
    this.ghost = null;
    // what presses and rubs is half of what a contact does
    this.show = { frames: false, arrows: data.arrows.some((a) => a.kind === "normal" || a.kind === "friction"), traces: true, labels: false, velocities: false };
    this.time = this.t[0];
    this.axes = data.view.axes;
    this.follow = data.view.follow;
    this.home();
    this.names = [...this.bodies.filter((b) => b.name).map((b) => [b.name, () => this.at(b.r)]), ...this.curves.map((c) => [c.name, () => this.at(c.r[c.r.length >> 1])]), ...this.places.filter((p) => p.named).map((p) => [p.name, () => this.at(p.r)])]
      .map(([name, where]) => { const span = document.createElement("span"); span.textContent = name; labels.append(span); return { span, where }; });
    if (this.arrows.length <= 12) this.values = data.arrows.map((a, k) => { const span = document.createElement("span"); span.className = "value"; labels.append(span); return { span, k, where: () => this.tip(k) }; });
    this.ruler();
    this.steer();
    this.theme();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.canvas);
  }

  // another scene takes the canvas
  end() { this.over.abort(); this.watch.disconnect(); this.paint = () => {}; }

  // scale bar and triad, in the corner of the scene
  ruler() {
    const corner = this.canvas.parentElement?.querySelector(".ruler");
    if (!corner) return;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), make = (kind) => svg.appendChild(document.createElementNS(svg.namespaceURI, kind));
    svg.setAttribute("viewBox", "0 0 40 40");
    const axes = ["#d63d33", "#33a047", "#386bdb"].map((colour) => { const l = make("line"); l.setAttribute("x1", 20); l.setAttribute("y1", 20); l.setAttribute("stroke", colour); l.setAttribute("stroke-width", 2); return l; });
    const letters = ["x", "y", "z"].map((name) => { const t = make("text"); t.textContent = name; return t; });
    const scale = document.createElement("i"), text = document.createElement("span");
    corner.replaceChildren(svg, scale, text);
    this.bar = { axes, letters, scale, text, unit: corner.dataset.unit };
  }

  theme() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => {
      const hex = style.getPropertyValue(name).trim();
      return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
    };
    this.colours = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5"].map(colour);
    this.ink = colour("--ink"); this.metal = colour("--metal"); this.gridInk = colour("--grid-ink");
    this.arrowInk = Object.fromEntries(["weight", "load", "normal", "friction", "reaction", "torque"].map((kind) => [kind, colour(`--${kind}`)]));
    this.draw();
  }

  // another motion of the same things; the recorded one stays as a ghost, unless it is the one to be shown
  use(motion, ghost = true) {
    Object.assign(this, motion ?? this.recorded);
    this.ghost = motion && ghost ? this.recorded : null;
    this.draw();
  }

  // the same with the recorded numbers for a moment
  haunt(draw) {
    const now = { t: this.t, places: this.places, bodies: this.bodies, curves: this.curves, arrows: this.arrows, traced: this.traced }, here = this.here;
    Object.assign(this, this.ghost);
    this.here = this.find(this.time);
    draw();
    Object.assign(this, now);
    this.here = here;
  }

  home() {
    const v = this.data.view;
    this.azimuth = v.azimuth * Math.PI / 180; this.elevation = v.elevation * Math.PI / 180; this.zoom = 1; this.shift = [0, 0, 0];
  }

  // ---- numbers at a time -------------------------------------------------------------------

  spread(numbers) {
    if (numbers.length > 3) return numbers;
    return new Float32Array([...numbers, ...numbers]);
  }

  find(time) {
    const t = this.t, last = t.length - 1;
    if (last < 1 || time <= t[0]) return [0, 0];
    if (time >= t[last]) return [last - 1, 1];
    let low = 0, high = last;
    while (high - low > 1) { const m = (low + high) >> 1; if (t[m] <= time) low = m; else high = m; }
    return [low, (time - t[low]) / (t[high] - t[low])];
  }

  at(numbers) {
    if (numbers.length === 3) return numbers;
    const [k, part] = this.here, i = 3 * k;
    return [0, 1, 2].map((j) => numbers[i + j] + (numbers[i + 3 + j] - numbers[i + j]) * part);
  }

  turned(q) {
    const [k, part] = this.here, i = q.length === 4 ? 0 : 4 * k, next = q.length === 4 ? 0 : 4;
    let [x, y, z, w] = [0, 1, 2, 3].map((j) => q[i + j] + (q[i + next + j] - q[i + j]) * part);
    const n = Math.hypot(x, y, z, w) || 1;
    x /= n; y /= n; z /= n; w /= n;
    return [[1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)], [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
      [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)]];
  }

  // the axes of a solid
  axesOf(b) {
    const t = b.turn, columns = [t.slice(0, 3), t.slice(3, 6), t.slice(6, 9)];
    if (!b.e) return columns;
    const [x, y, z] = this.turned(b.e);
    return columns.map((c) => V.add(V.add(V.scale(x, c[0]), V.scale(y, c[1])), V.scale(z, c[2])));
  }

  // ---- the eye -----------------------------------------------------------------------------

  focus() {
    if (!this.follow) return this.data.view.centre;
    let sum = [0, 0, 0];
    const centres = [...this.bodies.map((b) => b.r), ...this.curves.map((c) => c.r[c.r.length >> 1])];
    for (const r of centres) sum = V.add(sum, this.at(r));
    return V.scale(sum, 1 / centres.length);
  }

  look() {
    const [right, forward, up] = this.axes, v = this.data.view;
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth), ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    // towards the eye
    const back = V.add(V.add(V.scale(right, sa * ce), V.scale(forward, -ca * ce)), V.scale(up, se));
    const side = V.add(V.scale(right, ca), V.scale(forward, sa)), head = V.cross(back, side);
    const aspect = this.canvas.width / this.canvas.height, angle = 28 * Math.PI / 180;
    const radius = (this.follow ? v.near : v.far) / this.zoom;
    const distance = radius * Math.max(1, 1.35 / aspect) / Math.tan(angle / 2);
    const target = V.add(this.focus(), this.shift), eye = V.add(target, V.scale(back, distance));
    const camera = M4.times(M4.perspective(angle, aspect, distance / 40, distance * 12 + 20 * v.far), M4.looking(eye, side, head, back));
    return { camera, eye, back, side, head, target, radius };
  }

  // ---- a picture ---------------------------------------------------------------------------

  set(time) { this.time = time; this.draw(); }

  draw() {
    if (this.waiting || !this.colours) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  resize() {
    const k = Math.min(window.devicePixelRatio || 1, 2), w = Math.round(this.canvas.clientWidth * k), h = Math.round(this.canvas.clientHeight * k);
    if (!w || !h) return false;
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    return true;
  }

  paint() {
    if (!this.resize()) return;
    this.here = this.find(this.time);
    const r = this.renderer, v = this.data.view, up = this.axes[2], eye = this.eye = this.look();
    const light = V.unit(V.add(V.add(V.scale(up, 1.0), V.scale(eye.back, 0.75)), V.scale(eye.side, 0.55)));
    r.begin(eye.camera, eye.eye, up, light);
    this.floor(eye);
    this.solids(false);
    this.frames();
    this.tubes();
    this.sticks();
    if (this.show.traces) this.traces();
    if (this.show.frames) this.triads();
    this.solids(true);
    this.grounds();
    if (this.ghost) this.haunt(() => this.pale());
    // forces act inside of bodies and are seen through them
    if (this.show.arrows || this.show.velocities) r.gl.clear(r.gl.DEPTH_BUFFER_BIT);
    if (this.show.arrows) this.forces();
    if (this.show.velocities) this.velocities();
    if (this.tether) this.spring(...this.tether, "spring");
    this.name(eye);
    this.measure(eye);
  }

  floor(eye) {
    const v = this.data.view;
    if (v.ground === null) return;
    const [x, y, up] = this.axes, o = V.add(eye.target, V.scale(up, v.ground - V.dot(eye.target, up)));
    const reach = 5 * eye.radius, cell = Math.pow(10, Math.round(Math.log10(eye.radius / 2.2)));
    this.renderer.floor(o, x, y, reach, cell, [V.dot(o, x), V.dot(o, y)], this.gridInk);
    this.shadows(up, v.ground);
  }

  // every solid, pressed flat onto the floor; the stencil keeps shadows from adding up
  shadows(up, height) {
    const r = this.renderer, gl = r.gl;
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.disable(gl.DEPTH_TEST);
    const flat = (m) => {
      const out = new Float32Array(m);
      for (let c = 0; c < 3; c++) { const k = V.dot([m[4 * c], m[4 * c + 1], m[4 * c + 2]], up); for (let i = 0; i < 3; i++) out[4 * c + i] -= k * up[i]; }
      const k = V.dot([m[12], m[13], m[14]], up) - height;
      for (let i = 0; i < 3; i++) out[12 + i] -= k * up[i];
      return out;
    };
    for (const b of this.bodies) r.draw(b.kind, flat(M4.basis(...this.axesOf(b), this.at(b.r))), b.sizes, [-1, -1, -1], { alpha: 0.2 });
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.STENCIL_TEST);
  }

  solids(translucent) {
    for (const b of this.bodies) {
      if (b.guessed !== translucent) continue;
      const options = { alpha: b.guessed ? 0.62 : 1, mark: b.round ? 2 : 0 };
      this.renderer.draw(b.kind, M4.basis(...this.axesOf(b), this.at(b.r)), b.sizes, this.colour(b.colour), options);
    }
    if (translucent) this.plates();
  }

  // what the recorded run looks like at this time: solids and bars, hardly there
  pale() {
    const gl = this.renderer.gl, thin = this.data.view.stick, place = (k) => this.at(this.places[k].r), alpha = 0.22;
    gl.depthMask(false);
    for (const b of this.bodies) {
      this.renderer.draw(b.kind, M4.basis(...this.axesOf(b), this.at(b.r)), b.sizes, this.metal, { alpha });
      if (!b.bars.length) continue;
      const [x, y, z] = this.turned(b.e), o = this.at(b.r), world = (p) => V.add(o, V.add(V.add(V.scale(x, p[0]), V.scale(y, p[1])), V.scale(z, p[2])));
      for (const [p, q] of b.bars) this.renderer.rod("cylinder", world(p), world(q), 0.75 * thin, this.metal, { alpha });
    }
    for (const l of this.data.lines) if (l.kind === "link") this.renderer.rod("cylinder", place(l.a), place(l.b), 0.5 * thin, this.metal, { alpha });
    for (const c of this.curves) c.r.forEach((r, k) => { if (k) this.renderer.rod("cylinder", this.at(c.r[k - 1]), this.at(r), 0.5 * c.thick * thin, this.metal, { alpha }); });
    gl.depthMask(true);
    if (this.show.traces) this.traced.forEach((buffer, i) => {
      if (this.places[this.data.traces[i]].r.length > 3) this.renderer.polyline(buffer, 0, this.t.length - 1, 1, [...this.metal, 0.35], 2e-5);
    });
  }

  colour(k) { return this.colours[k % this.colours.length]; }

  // bodies as bars between their joints
  frames() {
    const thin = this.data.view.stick;
    for (const b of this.bodies) {
      if (!b.bars.length) continue;
      const [x, y, z] = this.turned(b.e), o = this.at(b.r);
      const world = (p) => V.add(o, V.add(V.add(V.scale(x, p[0]), V.scale(y, p[1])), V.scale(z, p[2])));
      for (const [p, q] of b.bars) this.tube([world(p), world(q)], 0.75 * thin, this.colour(b.colour));
    }
  }

  plates() {
    for (const [k, b] of this.bodies.entries())
      if (b.plate.length) this.renderer.draw("plate " + k, M4.basis(...this.turned(b.e), this.at(b.r)), [1, 1, 1], this.colour(b.colour), { alpha: 0.3 });
  }

  // flexible members, in colours after those of the bodies
  tubes() {
    this.curves.forEach((c, k) => this.tube(c.r.map((r) => this.at(r)), 0.5 * c.thick * this.data.view.stick, this.colour(this.data.hues + k)));
  }

  tube(points, r, colour) {
    for (const [k, p] of points.entries()) {
      this.ball(p, r, colour);
      if (k) this.renderer.rod("cylinder", points[k - 1], p, r, colour);
    }
  }

  sticks() {
    const r = this.renderer, thin = this.data.view.stick, place = (k) => this.at(this.places[k].r);
    for (const l of this.data.lines) {
      if (l.kind === "link") r.rod("cylinder", place(l.a), place(l.b), 0.5 * thin, this.metal);
      else if (l.kind === "rope") this.rope(place(l.a), place(l.b), l.length);
      else this.spring(place(l.a), place(l.b), l.kind);
    }
    for (const p of this.places) {
      if (p.joint) this.ball(this.at(p.r), 1.15 * thin, this.metal);
      if (p.fixed && p.joint) this.support(this.at(p.r), 3.2 * thin);
    }
    for (const rail of this.data.rails) r.path(rail, 2, [...this.ink, 0.35]);
  }

  // walls, belts and curved grounds: a translucent strip, hatched on its solid side; the marks of a belt move with it
  grounds() {
    const r = this.renderer, unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], size = 4 * this.data.view.stick;
    this.surfaces.forEach((s, k) => {
      const o = this.at(s.shift), edge = s.line.map((p) => V.add(o, p)), ends = [edge[0], edge.at(-1)];
      r.draw("surface " + k, M4.basis(...unit, o), [1, 1, 1], this.metal, { alpha: 0.3 });
      for (const side of [-1, 1]) r.path(edge.map((p) => V.add(p, V.scale(s.across, side))), 2, [...this.ink, 0.6]);
      for (const p of ends) r.path([V.sub(p, s.across), V.add(p, s.across)], 1, [...this.ink, 0.4]);
      const walk = Surfaces.stations(edge, s.travel ? 2 * size : size, s.travel ? this.at(s.travel)[0] : 0);
      for (const [p, along] of walk) {
        if (s.travel) r.path([V.sub(p, s.across), V.add(p, s.across)], 2, [...this.ink, 0.45]);
        else { const front = V.sub(p, s.across); r.path([front, V.add(front, V.scale(V.add(s.normal, along), -0.8 * size))], 1, [...this.ink, 0.5]); }
      }
    });
  }

  ball(o, size, colour) { this.renderer.draw("sphere", M4.basis([1, 0, 0], [0, 1, 0], [0, 0, 1], o), [size, size, size], colour); }

  support(o, size) {
    const [x, y, z] = this.axes;
    this.renderer.draw("box", M4.basis(x, y, z, V.add(o, V.scale(z, 0.62 * size))), [size, 0.6 * size, 0.2 * size], this.metal);
  }

  spring(a, b, kind) {
    const way = V.sub(b, a), l = V.norm(way);
    if (l < 1e-9) return;
    const z = V.unit(way), x = V.unit(V.cross(Math.abs(z[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0], z)), y = V.cross(z, x);
    const turns = 10, r = 1.7 * this.data.view.stick, points = [a];
    // a dashpot: a cylinder on a thin rod
    if (kind === "damper") this.renderer.rod("cylinder", V.add(a, V.scale(way, 0.35)), V.add(a, V.scale(way, 0.65)), 1.3 * this.data.view.stick, this.metal);
    for (let i = 0; kind === "spring" && i <= 16 * turns; i++) {
      const k = i / 16 * 2 * Math.PI, s = 0.1 + 0.8 * i / (16 * turns);
      points.push(V.add(V.add(V.add(a, V.scale(way, s)), V.scale(x, r * Math.cos(k))), V.scale(y, r * Math.sin(k))));
    }
    points.push(b);
    this.renderer.path(points, kind === "damper" ? 3.5 : 2, [...this.ink, 0.75]);
  }

  // a taut rope is straight; a slack one hangs as a parabola of its length L ≈ l + 8 d²/(3 l)
  rope(a, b, length) {
    const l = V.norm(V.sub(b, a)), slack = length - l;
    if (!(slack > 1e-6 * length)) { this.renderer.path([a, b], 2, [...this.ink, 0.75]); return; }
    const sag = l > 0.2 * length ? Math.min(Math.sqrt(3 * l * slack / 8), length / 2) : slack / 2, down = V.scale(this.axes[2], -4 * sag);
    this.renderer.path(Array.from({ length: 25 }, (_, k) => V.add(V.mix(a, b, k / 24), V.scale(down, k / 24 * (1 - k / 24)))), 2, [...this.ink, 0.5]);
  }

  traces() {
    const [k] = this.here, n = this.t.length - 1;
    this.traced.forEach((buffer, i) => {
      if (this.places[this.data.traces[i]].r.length === 3) return;
      const colour = this.colours[i % this.colours.length];
      this.renderer.polyline(buffer, 0, n, 1, [...colour, 0.22], 2e-5);
      this.renderer.polyline(buffer, 0, k + 1 > n ? n : k, 2, [...colour, 0.85], 4e-5);
      const whole = 3 * k;
      const r = this.places[this.data.traces[i]].r;
      this.renderer.path([[r[whole], r[whole + 1], r[whole + 2]], this.at(r)], 2, [...colour, 0.85], 4e-5);
    });
  }

  triads() {
    const size = 9 * this.data.view.stick, rgb = [[0.84, 0.24, 0.2], [0.2, 0.62, 0.28], [0.22, 0.42, 0.86]];
    const unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    unit.forEach((e, i) => this.arrow([0, 0, 0], V.scale(e, 1.25 * size), rgb[i], 0.22));
    for (const b of this.bodies) if (b.e && b.name) this.turned(b.e).forEach((e, i) => this.arrow(this.at(b.r), V.scale(e, size), rgb[i], 0.22));
  }

  forces() {
    const v = this.data.view;
    for (const a of this.arrows) {
      const now = this.at(a.v), k = v.arrow / (a.kind === "torque" ? v.torque : v.force);
      this.arrow(this.at(a.at), V.scale(now, k), this.arrowInk[a.kind], a.kind === "normal" || a.kind === "friction" ? 0.6 : 0.36);
      if (a.kind === "torque") this.arrow(this.at(a.at), V.scale(now, 0.86 * k), this.arrowInk[a.kind], 0.36);
    }
  }

  // ṙ of every body from neighbouring frames; the fastest of the motion is as long as the largest force
  velocities() {
    const n = this.t.length - 1, speed = (r, k) => V.scale(V.sub(r.subarray(3 * k + 3, 3 * k + 6), r.subarray(3 * k, 3 * k + 3)), 1 / (this.t[k + 1] - this.t[k] || 1));
    if (n < 1) return;
    if (this.speeds?.t !== this.t) {
      let most = 0;
      for (const { r } of this.bodies) if (r.length > 3) for (let k = 0; k < n; k++) most = Math.max(most, V.norm(speed(r, k)));
      this.speeds = { t: this.t, most };
    }
    for (const { r } of this.bodies) if (r.length > 3 && this.speeds.most) this.arrow(this.at(r), V.scale(speed(r, Math.min(this.here[0], n - 1)), this.data.view.arrow / this.speeds.most), this.colours[2], 0.36);
  }

  arrow(o, way, colour, width) {
    const l = V.norm(way), thin = width * this.data.view.stick, head = Math.min(5 * thin, 0.6 * l);
    if (l < 1e-9 * this.data.view.far) return;
    const neck = V.add(o, V.scale(way, 1 - head / l));
    this.renderer.rod("cylinder", o, neck, thin, colour);
    this.renderer.rod("cone", neck, V.add(o, way), 2.6 * thin, colour);
  }

  // the tip of an arrow; its value is written there
  tip(k) { const a = this.arrows[k], v = this.data.view; return V.add(this.at(a.at), V.scale(this.at(a.v), v.arrow / (a.kind === "torque" ? v.torque : v.force))); }

  // numbers at arrows, with their units
  writeValues() {
    const unit = (kind) => (!this.bar?.unit ? "" : kind === "torque" ? " N m" : " N");
    for (const label of this.values ?? []) {
      const a = this.arrows[label.k];
      // an arrow without length has no number
      const size = this.show.arrows && a ? V.norm(this.at(a.v)) : 0;
      label.shown = size > 0;
      if (!label.shown) continue;
      const text = `${Charts.label(+size.toPrecision(3))}${unit(a.kind)}`;
      if (label.span.textContent !== text) { label.span.textContent = text; label.wide = 7.2 * text.length + 4; }
    }
    return (this.values ?? []).filter((label) => label.shown || ((label.span.hidden = true), false));
  }

  // names that do not lie on one another: each takes the first free place around its point, or none
  name(eye) {
    this.labels.hidden = !this.show.labels && !this.show.arrows;
    if (this.labels.hidden) return;
    if (!this.show.labels) for (const { span } of this.names) span.hidden = true;
    const w = this.canvas.clientWidth, h = this.canvas.clientHeight, m = eye.camera, taken = [];
    for (const label of [...(this.show.labels ? this.names : []), ...this.writeValues()]) {
      const { span, where } = label, p = where(), k = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
      const x = ((m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / k + 1) / 2 * w, y = (1 - (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / k) / 2 * h;
      const wide = label.wide ??= 7.2 * span.textContent.length + 4, high = 17;
      const free = k > 0 && [[6, -22], [6, 5], [-6 - wide, -22], [-6 - wide, 5], [-wide / 2, -36], [-wide / 2, 18]].map(([dx, dy]) => [x + dx, y + dy]).find(([left, top]) =>
        left >= 0 && top >= 0 && left + wide <= w && top + high <= h && !taken.some(([l, t, r]) => left < r && left + wide > l && top < t + high && top + high > t));
      span.hidden = !free;
      if (!free) continue;
      taken.push([free[0], free[1], free[0] + wide]);
      span.style.transform = `translate(${free[0]}px, ${free[1]}px)`;
    }
  }

  // a bar whose length is that of the system at the middle of the picture, and the directions of the axes
  measure(eye) {
    const bar = this.bar;
    if (!bar) return;
    const pixel = 2 * eye.radius * Math.max(1, 1.35 / (this.canvas.width / this.canvas.height)) / this.canvas.clientHeight, wanted = 90 * pixel, power = 10 ** Math.floor(Math.log10(wanted)), length = [1, 2, 5].map((k) => k * power).filter((x) => x <= wanted).at(-1) ?? power;
    bar.scale.style.width = `${length / pixel}px`;
    const label = `${+length.toPrecision(2)}${bar.unit ? ` ${bar.unit}` : ""}`;
    if (bar.text.textContent !== label) bar.text.textContent = label;
    const lines = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((e) => [20 + 15 * V.dot(e, eye.side), 20 - 15 * V.dot(e, eye.head)]);
    lines.forEach(([x, y], i) => { const l = bar.axes[i]; l.setAttribute("x2", x.toFixed(1)); l.setAttribute("y2", y.toFixed(1)); const t = bar.letters[i]; t.setAttribute("x", (20 + 1.25 * (x - 20)).toFixed(1)); t.setAttribute("y", (20 + 1.25 * (y - 20) + 3.5).toFixed(1)); });
  }

  // ---- hands -------------------------------------------------------------------------------

  turn(dx, dy) {
    this.azimuth -= dx;
    // never below the ground
    this.elevation = Math.max(this.data.view.ground === null ? -1.55 : 0.02, Math.min(1.55, this.elevation + dy));
    this.draw();
  }

  nearer(factor) { this.zoom = Math.max(0.2, Math.min(12, this.zoom * factor)); this.draw(); }

  steer() {
    const c = this.canvas, fingers = new Map(), { signal } = this.over, on = (kind, act, more = {}) => c.addEventListener(kind, act, { signal, ...more });
    // a body that was taken follows the first finger; otherwise the view turns
    let held = null;
    on("pointerdown", (e) => { fingers.set(e.pointerId, [e.clientX, e.clientY]); c.setPointerCapture(e.pointerId); held = fingers.size === 1 ? this.grab?.(e) || null : (held?.drop(), null); });
    for (const over of ["pointerup", "pointercancel"]) on(over, (e) => { fingers.delete(e.pointerId); held?.drop(); held = null; });
    on("pointermove", (e) => {
      const old = fingers.get(e.pointerId);
      if (!old) return;
      if (held) { held.move(e); return; }
      const gap = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
      const before = fingers.size === 2 ? gap() : 0;
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      const dx = e.clientX - old[0], dy = e.clientY - old[1];
      if (fingers.size === 2) this.nearer(gap() / (before || 1));
      else if (e.shiftKey && this.eye) {
        const k = 2 * this.eye.radius / c.clientHeight;
        this.shift = V.add(this.shift, V.add(V.scale(this.eye.side, -dx * k), V.scale(this.eye.head, dy * k)));
        this.draw();
      } else this.turn(dx * 0.008, dy * 0.008);
    });
    // the wheel scrolls the page unless the scene was clicked or Ctrl is held
    on("wheel", (e) => {
      if (!e.ctrlKey && document.activeElement !== c) return;
      e.preventDefault();
      this.nearer(Math.exp(-e.deltaY * 0.0015));
    }, { passive: false });
    on("dblclick", () => { this.home(); this.draw(); });
    on("keydown", (e) => {
      const act = { ArrowLeft: () => this.turn(0.12, 0), ArrowRight: () => this.turn(-0.12, 0), ArrowUp: () => this.turn(0, 0.12), ArrowDown: () => this.turn(0, -0.12),
        "+": () => this.nearer(1.15), "-": () => this.nearer(1 / 1.15), 0: () => { this.home(); this.draw(); } }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
  }
}
