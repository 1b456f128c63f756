"""The run of a page outside a page: its engine in a JavaScript engine, with settings of our own."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.simulator_module import simulator_module
from dalembert.runtime.ode.failures import RunStopped

NODE = shutil.which("node")
ASSETS = ("initial_conditions.js", "events.js", "contacts.js", "simulator.js")
# given: {code, data, settings, times}; every setting is followed to its end, or to the sentence
# that refuses it
FOLLOW = """
function follow(given, bytes) {
  const engine = new Engine(new WebAssembly.Module(bytes), given.data);
  return given.settings.map((setting) => {
    try {
      const slices = engine.follow(setting);
      let slice = slices.next();
      while (!slice.done) slice = slices.next();
      const motion = slice.value, seen = setting.at ? motion.sample(setting.at) : motion.steps(1e9);
      const { n, data } = engine, wide = n + engine.riding, out = engine.parts.outputs.out,
        at = data.outputs;
      const rides = (k, name) => data.audit && data.audit[name] >= 0
        ? seen.states[k * wide + n + data.audit[name]] : 0;
      const Z = (k) => rides(k, "Z") + rides(k, "taken");
      const E_Z = Array.from(seen.t,
        (_, k) => seen.outputs[k * out + at.energies]
          + seen.outputs[k * out + at.energies + 3] + Z(k));
      const states = Array.from(seen.t,
        (_, k) => Array.from(seen.states.subarray(k * wide, k * wide + n)));
      const rest = (k) => seen.outputs.subarray(k * out + at.residuals,
        k * out + at.residuals + given.residuals);
      const residuals = Array.from(seen.t, (_, k) => Array.from(rest(k)));
      const places = Array.from(engine.data.outputs.places ?? [],
        (at) => Array.from(seen.outputs.subarray(at, at + 3)));
      const { count, stopped, start, events } = motion;
      const reactions = data.reactions && setting.at
        ? setting.at.map((t) => engine.reactions(t, motion.at(t))) : [];
      return { count, stopped, start, events, reactions, t: Array.from(seen.t),
        states, E_Z, residuals, places };
    } catch (problem) {
      if (!(problem instanceof BadSetting)) throw problem;
      return { fault: problem.message };
    }
  });
}
"""
BY_NODE = """
const given = JSON.parse(require("fs").readFileSync(0)),
  code = require("zlib").inflateSync(Buffer.from(given.code, "base64"));
console.log(JSON.stringify(follow(given, code)));
"""


def engine_text():
    """The scripts of the engine, as a page holds them."""
    return "\n".join(
        resources.files("dalembert.interface.page")
        .joinpath("assets", name)
        .read_text(encoding="utf-8")
        for name in ASSETS
    )


class Live:
    """A system of the gallery, or anything with build, start, duration, inputs and events, with
    its recorded run and its module.
    """

    def __init__(self, name):
        self.entry = gallery.entry(name) if isinstance(name, str) else name
        self.system = self.entry.build()
        self.run = self._recorded()
        self.drawn = build_scene(sample_frames(self.run)) if self.system.bodies else None
        self.module = simulator_module(self.run, self.entry.start, self.drawn, self.entry.events)

    def _recorded(self):
        try:
            return self.native(self.entry.start)
        except RunStopped as failure:
            return failure.trajectory

    def native(self, start, *, rtol=1e-9, **options):
        given = {
            "inputs": dict(self.entry.inputs),
            "events": self.entry.events,
            "progress": False,
            **options,
        }
        return da.simulate(
            self.system, self.entry.duration, start=dict(start), rtol=rtol, atol=rtol, **given
        )

    def setting(self, *, rtol=1e-9, values=None, starts=None, **more):
        """What the panel sends: the recorded numbers with some of them changed."""
        data, starts = self.module.data, starts or {}
        return {
            "values": {**data["values"], **(values or {})},
            "starts": [starts.get(f["name"], f["value"]) for f in data["starts"]],
            "asked": [f["given"] or f["name"] in starts for f in data["starts"]],
            "duration": self.entry.duration,
            "rtol": rtol,
            **more,
        }

    def given(self, settings):
        return {
            "code": self.module.compressed,
            "data": self.module.data,
            "settings": settings,
            "residuals": len(self.run.residuals),
        }

    def by_node(self, *settings):
        text = engine_text() + FOLLOW + BY_NODE
        given = json.dumps(self.given(settings))
        done = subprocess.run(
            [NODE, "-e", text], input=given, capture_output=True, text=True, check=False, timeout=60
        )
        assert not done.returncode, done.stderr[-2000:]
        return json.loads(done.stdout)
