"""Changes of mode in C: where a motion begins, which guards have fallen, and what follows.
Keywords: hybrid automaton.

The decision itself (impact, next mode) is the native text of a run, printed as C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Template
from typing import Final

from dalembert.exchange.exports.c_instructions import PRELUDE, functions_in_c
from dalembert.exchange.exports.exported_model import (
    GUARDS,
    POSITION_STEP,
    QUANTITIES,
    RESETS,
    ExportedModel,
    SwitchedPart,
)
from dalembert.exchange.exports.identifiers import ascii_text
from dalembert.runtime.contact.switch_loop_ir import module_ir
from dalembert.runtime.contact.transition_fields import (
    FIELDS,
    SLIPS_DOWN,
    SLIPS_UP,
    STICKS,
)
from dalembert.runtime.ode.integrator_state import STATE_FIELDS

# the scale of time, the error of positions, and bounces that end at once, of a motion
_SPAN: Final = 1e3
_TOLERANCE: Final = 1e-9
_LEAST_HEIGHT: Final = 1e-12


def header_lines(model: ExportedModel, name: str) -> list[str]:
    """The structure of modes and the functions that change them."""
    part = model.switching
    if part is None:
        return []
    numbers = {
        "name": name,
        "contacts": max(1, len(part.contacts)),
        "guards": len(model.named[GUARDS].nodes),
    }
    return Template(_HEADER).substitute(numbers).splitlines()


def usage_lines(model: ExportedModel, name: str) -> list[str]:
    """How a motion is continued from mode to mode, and what the guards are."""
    part = model.switching
    if part is None:
        return []
    lines = ["Guards z, positive while a mode lasts; events have their sign"]
    lines += [f"  z[{k}]  {ascii_text(guard)}" for k, guard in enumerate(part.guards)]
    return [*lines, "", *Template(_USAGE).substitute(name=name).splitlines()]


def source_lines(model: ExportedModel, name: str) -> Iterator[str]:
    """The functions of the header."""
    part = model.switching
    if part is None:
        return
    before, events = len(part.arrays.get("guard_kind", ())), len(part.events)
    numbers: dict[str, str | int] = {
        "name": name,
        "n_x": len(model.states),
        "n_z": len(model.named[GUARDS].nodes),
        "k": len(part.contacts),
        "contact_guards": before,
        "events": events,
        "branches": part.branches,
        "sides": 3 * len(part.contacts),
        "height": repr(_LEAST_HEIGHT),
    }
    numbers["event_flags"] = ", ".join(["0"] * before + ["1"] * events + ["0"] * part.branches)
    if part.contacts:
        yield PRELUDE
        yield Template(_QUANTITIES).substitute(numbers)
        yield from functions_in_c(module_ir(), "first_modes", "decide")
        yield from _decided(model, part, name)
    yield from _event_tables(part)
    numbers |= {
        "set_contacts": Template(_SET_CONTACTS if part.contacts else "").substitute(
            sticks=STICKS, up=SLIPS_UP, down=SLIPS_DOWN, **numbers
        ),
        "project": f"    {name}_project(t, x, w, p);\n" if model.has_projection else "",
        "resets": Template(_RESETS if RESETS in model.named else "").substitute(
            numbers, n_r=len(model.named[RESETS].nodes) if RESETS in model.named else 0
        ),
        "landing": Template(_LANDING if POSITION_STEP in model.named else "").substitute(
            numbers, n_q=len(model.q)
        ),
    }
    numbers |= {
        "begin_contacts": Template(_BEGIN_CONTACTS if part.contacts else "").substitute(numbers),
        "change_contacts": Template(_CHANGE_CONTACTS if part.contacts else "").substitute(numbers),
        "change_events": Template(_CHANGE_EVENTS if part.events else "").substitute(numbers),
        "begin_branches": Template(_BEGIN_BRANCHES if part.branches else "").substitute(numbers),
        "change_branches": Template(_CHANGE_BRANCHES if part.branches else "").substitute(numbers),
    }
    yield Template(_FUNCTIONS).substitute(numbers)


def _event_tables(part: SwitchedPart) -> Iterator[str]:
    if not part.events:
        return
    places = [p for e in part.events for p in e.places]
    counts = [len(e.places) for e in part.events]
    for title, values in (
        ("event_direction", [e.direction for e in part.events]),
        ("event_action", [e.action for e in part.events]),
        *((("reset_count", counts), ("reset_place", places)) if places else ()),
    ):
        yield f"static const int {title}[] = {{{', '.join(map(str, values))}}};"
    yield ""


def _decided(model: ExportedModel, part: SwitchedPart, name: str) -> Iterator[str]:
    """The memory of `decide`, filled and read."""
    place = {field: k for k, (field, _) in enumerate(FIELDS)}
    n_x, contacts = len(model.states), len(part.contacts)
    quantities = len(model.named[QUANTITIES].results[0].nodes)
    own = {"x": n_x + 1, "q": quantities, "restitution": contacts, "after": n_x}
    arrays: Mapping[str, tuple[str, int]] = {
        **part.sizes,
        **{key: ("double", size) for key, size in own.items()},
    }
    for title, values in part.arrays.items():
        yield f"static const int64_t {title}[] = {{{', '.join(map(str, values))}}};"
    yield ""
    yield Template(_DECIDED_HEAD).substitute(name=name)
    for title, (kind, size) in arrays.items():
        yield f"    {kind} {title}[{max(1, size)}] = {{0}};"
    yield f"    word s[{len(FIELDS)}], run[{len(STATE_FIELDS)}];"
    yield "    quantities_of given;\n    int64_t code, k;"
    yield "    memset(s, 0, sizeof s);\n    memset(run, 0, sizeof run);"
    fields = dict.fromkeys((*part.arrays, *arrays))
    yield from (f"    s[{place[f]}].p = (void *){f};" for f in fields)
    numbers = {**part.numbers, "width": n_x, "taken": -1}
    yield from (f"    s[{place[f]}].i = {x};" for f, x in numbers.items())
    names = [field for field, _ in STATE_FIELDS]
    yield Template(_DECIDED_BODY).substitute(
        {f"at_{f}": k for f, k in place.items()},
        run_t=names.index("t"), n_x=n_x, k=contacts, span=_SPAN, tolerance=_TOLERANCE,
    )  # fmt: skip


_HEADER: Final = """\
/* the modes of a motion */
typedef struct {
    /* of each contact: 0 open, 1 closed, 2 sticks, 3 slips forwards, 4 slips backwards */
    int mode[$contacts], earlier[$contacts];
    /* 1 for a guard that is above zero; for an event the side on which it is (-1, 0, 1) */
    int above[$guards];
    /* the times of the latest change, of that of a contact, and of the latest impact */
    double since, latest, last_impact;
    /* a bounce that is not higher than this ends at once: the error of the integrator */
    double least_height;
} ${name}_modes;
enum {
    ${name}_n_z = $guards,
    /* what ${name}_transition returns: the sum of these, or a negative number on failure */
    ${name}_changed = 1,
    ${name}_stop = 2
};
/* the first modes, and impacts at the start; -1 where no unique mode is found here, -2 - k where
   contact k begins inside the ground */
int ${name}_begin(double t, double *x, const double *w, ${name}_parameters *p, ${name}_modes *m);
/* how many guards have fallen below zero, and events have crossed it, since the last call of
   ${name}_watch */
int ${name}_fallen(double t, const double *z, const ${name}_modes *m);
/* after a step without: which guards are above zero */
void ${name}_watch(const double *z, ${name}_modes *m);
/* at the time at which a guard has fallen: impacts, resets and the next modes, in x, p and m; -1
   where no unique mode is found here */
int ${name}_transition(double t, double *x, const double *w, ${name}_parameters *p,
                       ${name}_modes *m);
"""

_USAGE: Final = """\
A motion from mode to mode, with a step of any integrator of one step:

    double t = 0, h = 1e-3, z[${name}_n_z];
    ${name}_modes m;
    ${name}_begin(t, x, w, &p, &m);
    while (t < t_end) {
        step(t, h, x, next);                    by ${name}_rates(t, x, w, &p, dx)
        ${name}_guards(t + h, next, w, &p, z);
        if (${name}_fallen(t + h, z, &m)) {
            find the least h at which ${name}_fallen(t + h, z, &m), by bisection, with
                ${name}_watch(z, &m) where it has not
            take the step of this h: t, x
            if (${name}_transition(t, x, w, &p, &m) < 0)
                fail();
        } else {
            take the step: t, x
            ${name}_watch(z, &m);
        }
    }

A transition sets the modes in p as well. Before ${name}_begin all contacts are open.
m.least_height may be set after ${name}_begin."""

_QUANTITIES: Final = """\
typedef struct {
    const double *w;
    const ${name}_parameters *p;
    double *e;
} quantities_of;

static void compiled_quantities(void *x, void *given, void *q, void *work)
{
    const quantities_of *of = (const quantities_of *)given;
    (void)work;
    ${name}_quantities(((double *)x)[$n_x], (const double *)x, of->w, of->p, (double *)q, of->e);
}
"""

_DECIDED_HEAD: Final = """\
/* the state and the modes after the guards fell, or the first ones; 0, 1 where no unique mode is
   found here, -1 - k where contact k begins inside the ground */
static int64_t decided(double t, double *y, const double *w, const ${name}_parameters *p,
                       ${name}_modes *m, const int *fell, int n_fell, int first)
{"""

_DECIDED_BODY: Final = """\
    s[$at_run].p = run;
    s[$at_quantities_p].p = &given;
    s[$at_duration].d = $span;
    s[$at_tolerance].d = $tolerance;
    s[$at_least_height].d = m->least_height;
    s[$at_latest].d = m->latest;
    s[$at_last_impact].d = m->last_impact;
    run[$run_t].d = t;
    given.w = w;
    given.p = p;
    given.e = restitution;
    for (k = 0; k < n_fell; ++k)
        if (fell[k])
            hit_guard[s[$at_hits].i++] = k;
    for (k = 0; k < $k; ++k) {
        modes[k] = m->mode[k];
        earlier[k] = m->earlier[k];
    }
    evaluate_quantities(s, y, t);
    if (first && (code = first_modes(s, y)) < 0)
        return code;
    if (decide(s, y))
        return 1;
    memcpy(y, after, sizeof(double)*$n_x);
    for (k = 0; k < $k; ++k) {
        m->earlier[k] = (int)modes[k];
        m->mode[k] = (int)new_modes[k];
    }
    m->latest = t;
    if (log_hit[0])
        m->last_impact = t;
    return 0;
}
"""

_FUNCTIONS: Final = """\
/* the modes of contacts as the flags of the equations */
static void set_modes(${name}_parameters *p, const ${name}_modes *m)
{
$set_contacts    (void)m;
    ${name}_prepare(p);
}

/* 1 for an event, 0 for a guard */
static const int is_event[$n_z] = {$event_flags};

static int has_fallen(double t, const double *z, const ${name}_modes *m, int k)
{
    if (m->above[k])
        return m->above[k]*z[k] <= 0;
    /* at zero after the latest change it must have risen by now */
    return !is_event[k] && z[k] <= 0 && t - m->since > 1e-9*(1 + fabs(t));
}

static int side_of(const double *z, int k)
{
    return z[k] > 0 ? 1 : is_event[k] && z[k] < 0 ? -1 : 0;
}

int ${name}_fallen(double t, const double *z, const ${name}_modes *m)
{
    int k, count = 0;
    for (k = 0; k < $n_z; ++k)
        count += has_fallen(t, z, m, k);
    return count;
}

void ${name}_watch(const double *z, ${name}_modes *m)
{
    int k;
    for (k = 0; k < $n_z; ++k)
        if (!m->above[k])
            m->above[k] = side_of(z, k);
}

/* guards a moment later, by the rates of the present modes */
static void guards_later(double t, double moment, const double *x, const double *w,
                         const ${name}_parameters *p, double *z)
{
    double dx[$n_x], moved[$n_x];
    int k;
    ${name}_rates(t, x, w, p, dx);
    for (k = 0; k < $n_x; ++k)
        moved[k] = x[k] + moment*dx[k];
    ${name}_guards(t + moment, moved, w, p, z);
}

int ${name}_begin(double t, double *x, const double *w, ${name}_parameters *p, ${name}_modes *m)
{
    double z[$n_z];
    int k;
    memset(m, 0, sizeof *m);
    m->since = t;
    m->latest = m->last_impact = -INFINITY;
    m->least_height = $height;
$begin_branches$begin_contacts    set_modes(p, m);
$project    ${name}_guards(t, x, w, p, z);
    for (k = 0; k < $n_z; ++k)
        m->above[k] = side_of(z, k);
    return 0;
}

int ${name}_transition(double t, double *x, const double *w, ${name}_parameters *p,
                       ${name}_modes *m)
{
    const double moment = 1e-12*(1 + fabs(t));
    double z[$n_z], later[$n_z];
    int fell[$n_z], any = 0, was_reset = 0, result = ${name}_changed, k;
    ${name}_guards(t, x, w, p, z);
    for (k = 0; k < $n_z; ++k)
        any += fell[k] = has_fallen(t, z, m, k);
    if (!any) {
        ${name}_watch(z, m);
        return 0;
    }
    /* what falls within a moment falls at once */
    guards_later(t, moment, x, w, p, later);
    for (k = 0; k < $n_z; ++k)
        fell[k] |= has_fallen(t + moment, later, m, k);
$change_events$change_branches$change_contacts    set_modes(p, m);
$project    ${name}_guards(t, x, w, p, z);
    for (k = 0; k < $n_z; ++k)
        if (!is_event[k] || was_reset)
            m->above[k] = side_of(z, k);
    m->since = t;
    return result;
}
"""

_SET_CONTACTS: Final = """\
    int k;
    for (k = 0; k < $k; ++k) {
        p->mode[3*k] = m->mode[k] != 0;
        p->mode[3*k + 1] = m->mode[k] == $sticks;
        p->mode[3*k + 2] = m->mode[k] == $up ? 1 : m->mode[k] == $down ? -1 : 0;
    }
"""

_BEGIN_CONTACTS: Final = """\
    set_modes(p, m);
    {
        const int64_t code = decided(t, x, w, p, m, NULL, 0, 1);
        if (code)
            return code < 0 ? (int)code - 1 : -1;
    }
"""

# the position step of contacts that are about to close
_LANDING: Final = """\
        double q[$n_q], residual;
        for (k = 0; k < $contact_guards; ++k)
            if (fell[k] && guard_kind[k] == 0)
                p->mode[3*guard_contact[k]] = 1;
        ${name}_prepare(p);
        ${name}_position_step(t, x, w, p, q, &residual);
        if (residual < INFINITY)
            memcpy(x, q, sizeof q);
        set_modes(p, m);
"""

_CHANGE_CONTACTS: Final = """\
    for (any = 0, k = 0; k < $contact_guards; ++k)
        any += fell[k];
    if (any || was_reset) {
$landing        if (decided(t, x, w, p, m, fell, $contact_guards, 0))
            return -1;
    }
"""

_CHANGE_EVENTS: Final = """\
    for (k = 0; k < $events; ++k) {
        int *above = &m->above[$contact_guards + k];
        if (!fell[$contact_guards + k])
            continue;
        if (event_direction[k]*(*above) <= 0) {
            if (event_action[k] == 1)
                result |= ${name}_stop;
            was_reset |= event_action[k] == 2 ? 1 << k : 0;
        }
        *above = -*above;
    }
$resets"""

_RESETS: Final = """\
    if (was_reset) {
        double r[$n_r];
        int i, at = 0;
        ${name}_resets(t, x, w, p, r);
        for (k = 0; k < $events; ++k)
            for (i = 0; i < reset_count[k]; ++i, ++at)
                if (was_reset >> k & 1)
                    x[reset_place[at]] = r[at];
    }
"""

_BEGIN_BRANCHES: Final = """\
    for (k = 0; k < $branches; ++k) {
        p->mode[$sides + k] = 1;
        p->mode[$sides + $branches + k] = 0;
    }
    for (k = 0; k < $branches; ++k) {
        set_modes(p, m);
        ${name}_guards(t, x, w, p, z);
        if (z[$contact_guards + $events + k] == 0)
            guards_later(t, 1e-9*(1 + fabs(t)), x, w, p, z);
        if (z[$contact_guards + $events + k] < 0)
            p->mode[$sides + k] = -1;
    }
"""

_CHANGE_BRANCHES: Final = """\
    for (any = 0, k = 0; k < $branches; ++k)
        if (fell[$contact_guards + $events + k]) {
            any = 1;
            p->mode[$sides + k] = -p->mode[$sides + k];
        }
    if (any) {
        set_modes(p, m);
        ${name}_guards(t, x, w, p, z);
        guards_later(t, 1e-9*(1 + fabs(t)), x, w, p, later);
        for (k = 0; k < $branches; ++k) {
            const int at = $contact_guards + $events + k;
            /* neither side leads away from zero: the branch is left to the integrator */
            if (fell[at] && later[at] < z[at] && later[at] < 0) {
                p->mode[$sides + k] = 0;
                p->mode[$sides + $branches + k] = 1;
            }
        }
    }
"""
