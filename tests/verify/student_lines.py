"""500 lines as students write them, each with what it means; and 500 hostile ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import dalembert as da
import hostile

# a term: coefficient, [(name, dots, power)], [(function, name, power)]
Term = tuple[str, list[tuple[str, int, int]], list[tuple[str, str, int]]]
SYMBOLS = ("x", "theta", "M", "m", "l", "g", "k", "c", "J_1", "F")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def lesson() -> da.System:
    """The system that the lines are about."""
    s = da.System("Cart and pendulum")
    s.coordinates("x theta")
    s.constants("M m l g k c J_1")
    s.input("F")
    return s


@dataclass(frozen=True)
class Style:
    """How one hand writes."""

    product: str
    power: str
    rate: str
    greek: str
    function: str
    half: str
    sides: str
    end: str
    label: str


PLAIN = {
    "product": ("*", " ", " * ", "·", "×"),
    "power": ("^", "**", "super", "^{}", "^()"),
    "rate": ("'", "dd", "ddot", "_ddot", "unicode", "d2/dt2", "′"),
    "greek": ("theta", "θ", "th"),
    "function": ("()", "( )", "bare"),
    "half": ("1/2", "(1/2)", "½", "0.5"),
    "sides": ("left", "both", "right", "none"),
    "end": ("", ".", ";", " ,", "  "),
    "label": ("", "1) ", "(2) ", "Eq. 1: ", "3. "),
}
LATEX = {
    "product": (" ", r"\,", r"\cdot ", "*"),
    "power": ("^", "^{}"),
    "rate": (r"\dot", r"\dot{}", r"\frac{d}"),
    "greek": (r"\theta",),
    "function": (r"\sin", r"\sin()", r"\left"),
    "half": (r"\frac{1}{2}", r"\frac12", r"\tfrac{1}{2}"),
    "sides": ("left", "both", "right"),
    "end": ("", ".", r" \\"),
    "label": ("", "$"),
}


def _style(rng: Random) -> Style:
    table = LATEX if rng.random() < 0.35 else PLAIN
    return Style(**{name: rng.choice(ways) for name, ways in table.items()})


def _name(name: str, dots: int, s: Style) -> str:
    base = s.greek if name == "theta" else name
    if name == "J_1" and s.rate.startswith("\\"):
        base = "J_{1}"
    if not dots:
        return base
    if s.rate in (r"\dot", r"\dot{}"):
        mark = "\\" + "d" * dots + "ot"
        return f"{mark}{{{base}}}" if s.rate == r"\dot{}" else f"{mark} {base}"
    if s.rate == r"\frac{d}":
        return rf"\frac{{d^2 {base}}}{{dt^2}}" if dots == 2 else rf"\frac{{d {base}}}{{dt}}"
    if s.rate == "d2/dt2":
        return f"d^2{base}/dt^2" if dots == 2 else f"d{base}/dt"
    if s.rate == "unicode":
        letter = "θ" if name == "theta" else base
        return letter + ("\u0308" if dots == 2 else "\u0307")
    endings = {"dd": "d" * dots, "ddot": "d" * dots + "ot", "_ddot": "_" + "d" * dots + "ot"}
    if base == "θ" and s.rate in endings:
        base = "theta"
    return base + endings.get(s.rate, s.rate * dots)


def _power(base: str, k: int, s: Style) -> str:
    if k == 1:
        return base
    if s.power == "super":
        return base + str(k).translate(SUPERSCRIPTS)
    if base.startswith("d") and "/" in base:
        base = f"({base})"
    body = {"^{}": f"^{{{k}}}", "^()": f"^({k})"}.get(s.power, f"{s.power}{k}")
    return base + body


def _function(function: str, name: str, k: int, s: Style) -> str:
    argument = _name(name, 0, s)
    if s.function.startswith("\\"):
        power = f"^{k}" if k > 1 else ""
        inside = rf"\left( {argument} \right)" if s.function == r"\left" else f"({argument})"
        return f"\\{function}{power}{' ' + argument if s.function == chr(92) + 'sin' else inside}"
    if s.function == "bare":
        power = ("²" if s.power == "super" else f"^{k}") if k > 1 else ""
        return f"{function}{power} {argument}"
    inside = f"( {argument} )" if s.function == "( )" else f"({argument})"
    return _power(f"{function}{inside}", k, s) if k > 1 else f"{function}{inside}"


def _term(term: Term, s: Style) -> str:
    coefficient, symbols, functions = term
    parts = [] if coefficient == "1" else [s.half if coefficient == "1/2" else coefficient]
    for name, dots, k in symbols:
        written = _name(name, dots, s)
        wide = k > 1 and dots and s.rate in ("d2/dt2", r"\frac{d}")
        parts.append(_power(f"({written})" if wide else written, k, s))
    parts += [_function(f, name, k, s) for f, name, k in functions]
    return s.product.join(parts)


def _side(terms: list[tuple[int, Term]], s: Style) -> str:
    text = ""
    for k, (sign, term) in enumerate(terms):
        mark = ("-" if sign < 0 else "") if not k else (" - " if sign < 0 else " + ")
        text += mark + _term(term, s)
    return text or "0"


def _meaning(left: list[tuple[int, Term]], right: list[tuple[int, Term]]) -> str:
    """The same in the language of the library, left − right."""
    plain = Style("*", "**", "'", "theta", "()", "1/2", "left", "", "")
    return f"({_side(left, plain)}) - ({_side(right, plain)})"


def _draw_term(rng: Random, *, motion: bool) -> Term:
    coefficient = rng.choice(("1", "1", "1", "2", "1/2", "3"))
    constants = rng.sample(("M", "m", "l", "g", "k", "c", "J_1"), rng.randint(1, 3))
    symbols = [(name, 0, rng.choice((1, 1, 1, 2))) for name in constants]
    if motion:
        name = rng.choice(("x", "theta"))
        symbols.append(rng.choice(((name, 2, 1), (name, 1, 1), (name, 1, 2))))
    functions = []
    if rng.random() < 0.5:
        functions.append((rng.choice(("sin", "cos")), "theta", rng.choice((1, 1, 2))))
    return coefficient, symbols, functions


def student_lines(count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """(line, what it means)"""
    rng = Random(seed)
    for _ in range(count):
        s = _style(rng)
        left = [(1, _draw_term(rng, motion=True))]
        left += [
            (rng.choice((1, -1)), _draw_term(rng, motion=rng.random() < 0.6))
            for _ in range(rng.randint(1, 3))
        ]
        right: list[tuple[int, Term]] = [(1, ("1", [("F", 0, 1)], []))]
        if s.sides == "both":
            right += [(rng.choice((1, -1)), _draw_term(rng, motion=False))]
        if s.sides in ("none", "left"):
            right = []
        sides = {
            "left": (_side(left, s), "0"),
            "none": (_side(left, s),),
            "both": (_side(left, s), _side(right, s)),
            "right": (_side(right, s), _side(left, s)),
        }[s.sides]
        label = s.label if s.label != "$" else "$"
        close = "$" if s.label == "$" else ""
        meaning = _meaning(right, left) if s.sides == "right" else _meaning(left, right)
        yield f"{label}{' = '.join(sides)}{close}{s.end}", meaning


def hostile_lines(count: int, seed: int = 2) -> Iterator[str]:
    """Code, nonsense, very long and very deep lines, and random mixtures of all these."""
    fixed = [*hostile.CODE, *hostile.NUMBERS, *hostile.SHAPES, *hostile.LETTERS, *hostile.PATHS]
    fixed += [f"x'' = {text}" for text in fixed]
    fixed += ["x'' = " + "sin(" * 200 + "x" + ")" * 200, "d" * 5000, "x" + "'" * 5000, " " * 50000]
    fixed += [
        r"\frac{" * 500,
        r"\dot" * 500 + "x",
        "d" + " " * 3000 + "x" + " " * 3000 + "/",
        "{" * 999,
    ]
    fixed += [
        "x**" * 300 + "x",
        "x^9^9^9 = 1",
        "2^(2^(2^(2^9))) = x''",
        "x_{" * 300,
        "_" * 3000,
        "=" * 3000,
    ]
    fixed += [
        "x'' = " + "9" * 59,
        "(x+1)^1000 = x''",
        "x''=" + "+".join(["m*l*theta'"] * 2500),
        ";" * 3000,
    ]
    yield from fixed[:count]
    rng = Random(seed)
    pieces = [
        *"()[]{}+-*/^=_'\\.,;:&|!?@#$%~`<>\"",
        "\\frac",
        "\\dot",
        "\\begin{",
        "sin",
        "x",
        "theta",
        "d/dt",
    ]
    pieces += [
        "lambda",
        "import",
        "eval(",
        "__class__",
        "∂",
        "δ",
        "²",
        "θ̈",
        "\u0307",
        "\u202e",
        "9e999",
        "1e5",
    ]
    for _ in range(count - len(fixed[:count])):
        yield "".join(rng.choice(pieces) for _ in range(rng.randint(1, 60)))
