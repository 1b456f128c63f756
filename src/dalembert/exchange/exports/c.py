"""C99: one header and one source, reentrant, without allocation and without any dependency but
the mathematics library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from dalembert.exchange.exports import c_switching
from dalembert.exchange.exports.code_generation import (
    FUNCTIONS,
    AssignmentWriter,
    LanguageSyntax,
    LoweredFunction,
    Value,
    operations,
    precompute_code,
)
from dalembert.exchange.exports.exported_model import (
    DIRECTIONAL,
    POSITION_STEP,
    PRIVATE,
    SPEED_STEP,
    ExportedFunction,
    ExportedModel,
    ProjectionTemplate,
)
from dalembert.exchange.exports.identifiers import header_lines, identifiers, word_set
from dalembert.exchange.exports.table_data import c_tables
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.math_kernels import (
    COSINE,
    HALF_PI_SHORT,
    LARGEST_REDUCED_SHORT,
    SINE,
    SINE_FIRST,
    TWO_OVER_PI,
)

KEYWORDS: Final = word_set(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch
    typedef union unsigned void volatile while _Bool _Complex _Imaginary and and_eq asm
    bitand bitor bool catch class compl const_cast delete dynamic_cast explicit export false
    friend mutable namespace new not not_eq operator or or_eq private protected public
    reinterpret_cast static_cast template this throw true try typeid typename using virtual
    wchar_t xor xor_eq derived NAN INFINITY HUGE_VAL DOMAIN SING OVERFLOW UNDERFLOW PLOSS
    TLOSS M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI
    M_SQRT2 M_SQRT1_2 linux unix"""
)


def notation(real: str) -> LanguageSyntax:
    """The operations in float or in double."""
    f = "f" if real == "float" else ""
    called = operations({**{name: name + f for name in FUNCTIONS}, "abs": f"fabs{f}"})
    table = {
        **called,
        "sign": f"({{0}} > 0 ? 1.0{f} : {{0}} < 0 ? -1.0{f} : {{0}})",
        "reciprocal": f"1.0{f}/{{0}}",
    }
    turn = "" if f else "    const turned {0} = turn({1});"
    return LanguageSyntax(table, "    const real {0} = {1};", lambda x: repr(x) + f, turn)


@dataclass(frozen=True)
class CSource:
    """A model in C: the two files and what they need to agree on."""

    model: ExportedModel
    name: str
    real: str = "double"

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the structure of constants."""
        return identifiers((p.name for p in self.model.parameters), KEYWORDS)

    @cached_property
    def lowered_functions(self) -> dict[str, LoweredFunction]:
        """Every function as operations."""
        return {f.name: LoweredFunction.lower(self.model, f) for f in self.model.functions}

    @cached_property
    def precomputed(self) -> tuple[list[str], dict[Value, int]]:
        """The lines that compute what depends on constants alone, and where each value that a
        function reads is kept.
        """
        return precompute_code(
            self.lowered_functions.values(),
            notation(self.real),
            self._argument_names,
            "    p->derived[{}] = {};".format,
        )

    @cached_property
    def _argument_names(self) -> dict[int, str]:
        argument_names = self.model.leaves("x[{}]", "w[{}]", "p->{}", self.names)
        argument_names |= {v.node: f"p->mode[{k}]" for k, v in enumerate(self.model.flags)}
        return argument_names | {v.node: f"seed[{k}]" for k, v in enumerate(self.model.seeds)}

    # ---- the two files -----------------------------------------------------------------------

    def header(self) -> str:
        """Types, sizes and functions."""
        guard = f"{self.name.upper()}_H"
        return "\n".join(
            [
                *self._comment(),
                f"#ifndef {guard}",
                f"#define {guard}",
                "#ifdef __cplusplus",
                'extern "C" {',
                "#endif",
                "",
                f"typedef {self.real} {self.name}_real;",
                "",
                *self._sizes(),
                "",
                *self._structure(),
                "",
                *self._declarations(),
                *c_switching.header_lines(self.model, self.name),
                "",
                "#ifdef __cplusplus",
                "}",
                "#endif",
                "#endif",
                "",
            ]
        )

    def source(self) -> str:
        """The functions."""
        lines = [
            f'#include "{self.name}.h"',
            "",
            "#include <math.h>",
            *(["#include <stdint.h>", "#include <string.h>"] if self.model.switching else []),
            "",
            f"typedef {self.name}_real real;",
            "",
        ]
        body = [*self._defaults(), "", *self._prepare_function()]
        for f in self.model.functions:
            body += ["", *self._function(f)]
        if self.model.has_projection:
            body += [
                "",
                *self.model.projection_code(_projection_template(self.model), name=self.name),
            ]
        body += ["", *c_switching.source_lines(self.model, self.name)]
        if any(" = turn(" in line for line in body):
            lines += [_sincos_source(), ""]
        if self.model.tables:
            lines += c_tables(self.model.tables, self.real)
        lines += body
        return "\n".join([*lines, ""])

    def _comment(self) -> list[str]:
        lines = [
            *header_lines(self.model, self.names),
            "",
            *_USAGE_COMMENT.format(name=self.name).splitlines(),
            *(["", *usage] if (usage := c_switching.usage_lines(self.model, self.name)) else []),
        ]
        return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]

    def _sizes(self) -> Iterator[str]:
        m = self.model
        sizes = {
            "q": len(m.q),
            "u": len(m.u),
            "x": len(m.states),
            "w": len(m.inputs),
            "y": len(m.outputs),
        }
        for r in (
            r
            for f in m.public_functions
            for r in f.results
            if f.name == "constraints" and len(r.shape) == 1
        ):
            sizes[r.name] = r.shape[0]
        yield "enum {"
        yield ",\n".join(f"    {self.name}_n_{letter} = {n}" for letter, n in sizes.items())
        yield "};"

    def _structure(self) -> Iterator[str]:
        yield "typedef struct {"
        for p in self.model.parameters:
            yield f"    {self.name}_real {self.names[p.name]};"
        if self.model.flags:
            yield (
                f"    {self.name}_real mode[{len(self.model.flags)}]; /* set by {self.name}_begin "
                f"and {self.name}_transition */"
            )
        yield (
            f"    {self.name}_real derived[{max(1, len(self.precomputed[1]))}]; /* filled by "
            f"{self.name}_prepare */"
        )
        yield f"}} {self.name}_parameters;"

    def signature(self, f: ExportedFunction, real: str) -> str:
        """void name_rates(t, x, w, p, dx)"""
        # C++ reads the header, and has no such word
        only = "restrict " if real == "real" else ""
        results = "".join(f", {real} *{only}{r.name}" for r in f.results)
        static = "static " if f.name in PRIVATE else ""
        seed = f", const {real} *{only}seed" if f.name == DIRECTIONAL else ""
        arguments = (
            f"{real} t, const {real} *{only}x, const {real} *{only}w, const "
            f"{self.name}_parameters *{only}p{seed}{results}"
        )
        return f"{static}void {self.name}_{f.name}({arguments})"

    def _declarations(self) -> Iterator[str]:
        real = f"{self.name}_real"
        yield "/* the values of the description; constants without one become NaN */"
        yield f"void {self.name}_defaults({self.name}_parameters *p);"
        yield "/* to be called after a constant was changed */"
        yield f"void {self.name}_prepare({self.name}_parameters *p);"
        for f in self.model.public_functions:
            shapes = ", ".join(
                f"{r.name}[{']['.join(map(str, r.shape))}]" if r.shape else f"*{r.name}"
                for r in f.results
            )
            yield f"/* {f.says}: {shapes} */"
            yield f"{self.signature(f, real)};"
        if self.model.has_projection:
            yield (
                "/* projects x onto the constraint rows in the mass metric; returns the residual, "
                "NaN on failure */"
            )
            yield (
                f"{real} {self.name}_project({real} t, {real} *x, const {real} *w, const "
                f"{self.name}_parameters *p);"
            )

    def _defaults(self) -> Iterator[str]:
        yield f"void {self.name}_defaults({self.name}_parameters *p)"
        yield "{"
        write = notation(self.real)
        for p in self.model.parameters:
            yield (
                f"    p->{self.names[p.name]} = "
                f"{'NAN' if p.value is None else write.number(p.value)};"
            )
        # no mode: contacts are open, and a branch has the side that its argument has now
        branches = 0 if self.model.switching is None else self.model.switching.branches
        sides = len(self.model.flags) - branches
        for k in range(len(self.model.flags)):
            yield f"    p->mode[{k}] = {int(k >= sides)};"
        yield f"    {self.name}_prepare(p);"
        yield "}"

    def _prepare_function(self) -> Iterator[str]:
        yield f"void {self.name}_prepare({self.name}_parameters *p)"
        yield "{"
        yield from self.precomputed[0] or ["    p->derived[0] = 0;"]
        yield "}"

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        lowered = self.lowered_functions[f.name]
        writing = AssignmentWriter(lowered, notation(self.real), self._argument_names)
        writing.names |= {value: f"p->derived[{k}]" for value, k in self.precomputed[1].items()}
        writing.run(lowered.body)
        yield self.signature(f, "real")
        yield "{"
        yield from writing.lines
        yield from (
            f"    {r.name}[{k}] = {writing.name(i)};"
            for r in f.results
            for k, i in enumerate(r.nodes)
        )
        yield from (
            f"    (void){name};" for name, used in self._arguments_read(lowered).items() if not used
        )
        yield "}"

    def _arguments_read(self, lowered: LoweredFunction) -> dict[str, bool]:
        """Which arguments a function reads."""
        model, reads = self.model, lowered.body_inputs
        groups = {"x": model.states, "w": model.inputs, "p": (*model.parameters, *model.flags)}
        used = {name: any(v.node in reads for v in variables) for name, variables in groups.items()}
        used["p"] |= any(result in reads for result, _, _ in lowered.prologue)
        return {"t": model.time in reads, **used}


def _projection_template(model: ExportedModel) -> ProjectionTemplate:
    """In C, with the variables that its steps need."""
    positions = "    real q_new[$n_q], before = INFINITY;\n" if POSITION_STEP in model.named else ""
    speeds = "    real u_new[$n_u];\n" if SPEED_STEP in model.named else ""
    return replace(_PROJECTION, begin=_PROJECTION.begin + positions + speeds)


_PROJECTION: Final = ProjectionTemplate(
    """\
real ${name}_project(real t, real *x, const real *w, const ${name}_parameters *p)
{
    real residual = 0;
    int k, round;
""",
    """\
    for (round = 0; round < $rounds; ++round) {
        ${name}_position_step(t, x, w, p, q_new, &residual);
        if (!(residual < before/2))
            break;
        before = residual;
        for (k = 0; k < $n_q; ++k)
            x[k] = q_new[k];
    }
""",
    """\
    for (round = 0; round < $speed_rounds; ++round) {
        ${name}_speed_step(t, x, w, p, u_new);
        for (k = 0; k < $n_u; ++k)
            x[$n_q + k] = u_new[k];
    }
""",
    """\
    return residual;
}
""",
)


def _sincos_source() -> str:
    """sin x and cos x at once, in the polynomials of our own native code (fdlibm); at most 1 ulp
    off, the library's for large angles.
    """

    def series(coefficients: tuple[str, ...]) -> str:
        """(c₀ + c₁ z) + w ((c₂ + c₃ z) + …), w = z²: waits half as long as by Horner in z"""
        numbers = [number(c) for c in coefficients]
        text, *others = [" + z*".join(numbers[k : k + 2]) for k in range(0, len(numbers), 2)][::-1]
        for pair in others:
            text = f"{pair} + w*({text})"
        return text

    def number(text: str) -> str:
        return repr(float.fromhex(text))

    parts = dict(zip("abc", map(number, HALF_PI_SHORT), strict=True))
    numbers = {
        "turns": number(TWO_OVER_PI),
        "first": number(SINE_FIRST),
        "largest": repr(LARGEST_REDUCED_SHORT),
    }
    return _SINCOS_SOURCE.format(**numbers, **parts, sine=series(SINE), cosine=series(COSINE))


_SINCOS_SOURCE: Final = """\
typedef struct {{
    real sin, cos;
}} turned;

/* sin x and cos x */
static turned turn(real x)
{{
    turned both;
    if (!(fabs(x) <= {largest})) {{
        both.sin = sin(x);
        both.cos = cos(x);
    }} else {{
        /* r + tail = x - k pi/2 */
        const int k = (int)(x*{turns} + copysign(0.5, x));
        const real a = x - k*{a}, b = k*{b}, c = a - b;
        const real d = k*{c} - ((a - c) - b), r = c - d, tail = (c - r) - d;
        const real z = r*r, w = z*z, v = z*r, h = 0.5*z, one = 1.0 - h;
        const real s = r + (v*({first} + z*({sine})) + (tail - h*tail));
        const real q = one + (((1.0 - one) - h) + (w*({cosine}) - r*tail));
        const real quarters[4] = {{s, q, -s, -q}};
        both.sin = quarters[k & 3];
        both.cos = quarters[(k + 1) & 3];
    }}
    return both;
}}"""

_USAGE_COMMENT: Final = """\
{name}_parameters p;
{name}_defaults(&p);      then, after changes of constants, {name}_prepare(&p)
{name}_rates(t, x, w, &p, dx);
Results must not overlap the arguments. No function allocates, and all may be called from
several threads."""


def files(model: ExportedModel, name: str, real: str = "double") -> dict[str, str]:
    """{name.h, name.c}"""
    written = CSource(model, name, real)
    return {f"{name}.h": written.header(), f"{name}.c": written.source()}
