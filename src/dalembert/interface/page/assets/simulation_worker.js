// In a worker: the newest setting is followed, one that is overtaken is dropped between two slices.
"use strict";

let engine = null, wanted = null, busy = false;
// runs that began before the pointer took a body are not continued
let epoch = 0;
let drag = null, push = null, last = null;
const FRAMES = 601, STEPS = 1001;

const pause = (() => {
  const { port1, port2 } = new MessageChannel(), waiting = [];
  port1.onmessage = () => waiting.shift()();
  return () => new Promise((done) => { waiting.push(done); port2.postMessage(0); });
})();

function seen(motion) {
  const first = motion.first, last = motion.last, n = Math.min(FRAMES, Math.max(241, Math.round((last - first) * 60) + 1));
  const even = Array.from({ length: last > first ? n : 1 }, (_, k) => (k === n - 1 ? last : first + (last - first) * k / (n - 1)));
  return { frames: motion.sample(even), steps: motion.steps(STEPS), sizes: engine.sizes, count: motion.count, stopped: motion.stopped, ended: motion.ended, events: motion.events, modes: motion.modes, start: motion.start, released: motion.released };
}

// reactions come after everything else, as long as nothing newer is wanted
async function react(id, motion, times) {
  const count = engine.data.reactions.terms.length, values = new Float64Array(times.length * count);
  for (let k = 0; k < times.length; k++) {
    if (k % 32 === 0) { await pause(); if (wanted || push) return; }
    engine.contacts?.show(motion.modes, times[k]);
    values.set(engine.reactions(times[k], motion.at(times[k])), k * count);
  }
  postMessage({ id, reactions: values }, [values.buffer]);
}

async function work() {
  busy = true;
  while (wanted) {
    const job = wanted, mine = epoch;
    wanted = null;
    try {
      const slices = job.release ? push.release() : engine.follow(job.setting, undefined, undefined, job.from ?? null);
      let slice = slices.next();
      push = null;
      while (!slice.done && !wanted) { await pause(); if (mine !== epoch) break; if (!wanted) slice = slices.next(); }
      if (!slice.done || mine !== epoch) continue;
      const result = seen(slice.value);
      last = { id: job.id, motion: slice.value };
      await pause();
      const times = Array.from(result.frames.t);
      if (!wanted) postMessage({ id: job.id, result }, [result.frames, result.steps].flatMap((s) => [s.t.buffer, s.states.buffer, s.outputs.buffer]));
      if (engine.data.reactions) await react(job.id, slice.value, times);
    } catch (problem) {
      const known = problem instanceof BadSetting;
      postMessage({ id: job.id, fault: known ? problem.message : `this cannot be computed here (${problem.message})`, names: known ? problem.field : null });
    }
  }
  busy = false;
}

// the positions for a pointer, with all that is drawn there
function pull(target) {
  const begun = performance.now(), { q, residual } = drag.move(target), outputs = engine.evaluate("outputs", q, drag.u, drag.t);
  postMessage({ pose: { q, residual, outputs, sizes: engine.sizes ?? engine.data.laws.recorded, took: performance.now() - begun } });
}

// from here on the pointer pulls: the state at a time of the motion that is shown
function begin({ id, setting, t, ...grip }) {
  if (last?.id !== id) {
    const slices = engine.follow(setting);
    let slice = slices.next();
    while (!slice.done) slice = slices.next();
    last = { id, motion: slice.value };
  }
  engine.give(setting.values);
  const at = Math.max(last.motion.first, Math.min(last.motion.last, t));
  push = new Push(engine, { setting, t: at, y: last.motion.at(at), ...grip });
}

function pushTo({ target, seconds }) {
  const begun = performance.now();
  postMessage({ pushed: { ...push.move(target, seconds), sizes: engine.sizes ?? engine.data.laws.recorded, took: performance.now() - begun } });
}

function guarded(act) {
  try { act(); } catch (problem) { push = null; postMessage({ pushFault: problem.message }); }
}

onmessage = async ({ data }) => {
  if (data.module) {
    try {
      engine = new Engine(await WebAssembly.compile(data.module), data.data);
      postMessage({ ready: true });
    } catch (problem) { postMessage({ broken: problem.message }); }
    return;
  }
  if (data.grab) { drag = new DragSolver(engine, data.grab); return; }
  if (data.pull) { if (drag) pull(data.pull); return; }
  if (data.push) { wanted = null; epoch++; guarded(() => begin(data.push)); return; }
  if (data.pushTo) { if (push) guarded(() => pushTo(data.pushTo)); return; }
  if (data.release && !push) return;
  wanted = data;
  if (!busy) work();
};
