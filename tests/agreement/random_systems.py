"""Random mechanical systems, each written as the program that describes it: what a failure prints
is what ran.

A tree of one to five bodies on random joints, with random loads, prescribed motions,
quasi-velocities and rows. Everything that a description may contain occurs; every number is small
and every name short, so that a counterexample can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

import dalembert as da

X = TypeVar("X")

HEAD = "import dalembert as da\nfrom dalembert import cos, exp, sin\n\n"
# unit vectors with rational components in a frame F
AXES = (
    "{F}.x",
    "{F}.y",
    "{F}.z",
    "-{F}.z",
    "(3*{F}.x + 4*{F}.y)/5",
    "({F}.x + 2*{F}.y - 2*{F}.z)/3",
    "(2*{F}.x - 3*{F}.y + 6*{F}.z)/7",
)
DIRECTIONS = ("{F}.x", "{F}.y", "{F}.z", "({F}.x - {F}.y + 2*{F}.z)", "(2*{F}.y + {F}.z)")
CURVES = (
    "({q}*{F}.x + {q}**2/2*{F}.y)",
    "(cos({q})*{F}.x + 2*sin({q})*{F}.y + {q}*{F}.z)",
    "({q}*{F}.z + ({q}**3 - s.t*{q})*{F}.x)",
)
MOTIONS = ("", ", sin(2*s.t)", ", s.t**2/2", ", 3*cos(s.t) - s.t")
ANGLES = ("zyx", "zxz", "xyz")


class Description(str):
    """A program that leaves a system in `s`; shown as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"\n{self}"

    def system(self) -> da.System:
        """The system the program describes."""
        names: dict[str, Any] = {}
        exec(self, names)
        return names["s"]


@dataclass(frozen=True)
class Site:
    """A point another joint may sit at, and the frame it rides on."""

    point: str
    frame: str
    # the frame before a turn about its own z axis, in which the inertia of a symmetric body is
    # constant too
    unspun: str | None = None


@dataclass(frozen=True)
class Shape:
    """How large a system, and which of its features are drawn."""

    bodies: int = 3
    coordinates: int = 6
    specified: bool = True
    speeds: bool = True
    nonholonomic: int = 0
    holonomic: int = 0


@dataclass
class Draft:
    """A program in the making, with what has been declared so far."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    shape: Shape
    lines: list[str] = field(
        default_factory=lambda: [
            's = da.System("random"); s.accept("torque without reaction", "double weight")',
            "N, O = s.N, s.O",
        ]
    )
    # ordinary coordinates; the four of a quaternion stand apart, because speeds take its spin
    q: list[str] = field(default_factory=list)
    quaternions: list[list[str]] = field(default_factory=list)
    # what moves freely in three directions (ω of a ball joint, v of a carriage), and by which
    # coordinates
    vectors: list[tuple[str, list[str]]] = field(default_factory=list)
    specified: list[str] = field(default_factory=list)
    speeds: list[str] = field(default_factory=list)
    sites: list[Site] = field(default_factory=lambda: [Site("O", "N")])
    bodies: list[tuple[str, str | None]] = field(default_factory=list)
    count: dict[str, int] = field(default_factory=dict)

    # ---- words -------------------------------------------------------------------------------

    def choose(self, options: Sequence[X]) -> X:
        return self.draw(st.sampled_from(options))

    def often(self) -> bool:
        return self.draw(st.booleans())

    def seldom(self) -> bool:
        return self.draw(st.integers(0, 3)) == 3

    def write(self, line: str) -> None:
        self.lines.append(line)

    def fresh(self, letter: str) -> str:
        self.count[letter] = self.count.get(letter, 0) + 1
        return f"{letter}{self.count[letter]}"

    def coordinate(self) -> str:
        q = self.fresh("q")
        self.q.append(q)
        return q

    def number(self) -> str:
        return self.choose(["1", "2", "3", "1/2"])

    def amount(self) -> str:
        """A number or a constant."""
        if not self.often():
            return self.number()
        c = self.fresh("c")
        self.write(f'{c} = s.constant("{c}")')
        return c

    def motion(self) -> str:
        """A prescribed motion, bound or not, new or used before."""
        if self.specified and self.often():
            return self.choose(self.specified)
        x = self.fresh("x")
        self.write(f'{x} = s.specified("{x}"{self.choose(MOTIONS)})')
        self.specified.append(x)
        return x

    def of_place(self) -> str:
        """A scalar function of q, t and what is specified."""
        forms = [
            "2",
            "s.t",
            "sin(s.t)",
            "{q}",
            "cos({q})",
            "sin({q} + {p})",
            "{q}*{p}",
            "(1 + s.t*{q})",
        ]
        forms += (
            ["{x}", "{x}*cos({q})", "{x}.dot"] if self.shape.specified and self.seldom() else []
        )
        return self.filled(self.choose(forms))

    def of_motion(self) -> str:
        """A scalar function of q, q̇, u and t."""
        forms = ["{q}.dot", "{q}.dot*{p}", "{p}*{q}.dot**2", "sin({q})*{p}.dot"] + (
            ["{u}", "{u}*{q}"] if self.speeds else []
        )
        return self.filled(self.choose(forms))

    def filled(self, form: str) -> str:
        values = {"q": self.any_coordinate(), "p": self.any_coordinate()}
        if "{x}" in form:
            values["x"] = self.motion()
        if "{u}" in form:
            values["u"] = self.choose(self.speeds)
        return form.format(**values)

    def any_coordinate(self) -> str:
        return self.choose([*self.q, *(e for quaternion in self.quaternions for e in quaternion)])

    def any_frame(self) -> str:
        return self.choose(["N", *(F for _, F in self.bodies if F is not None)])

    def any_vector(self, size: Callable[[], str]) -> str:
        """size times a direction of some frame."""
        return f"{size()}*{self.choose(DIRECTIONS).format(F=self.any_frame())}"

    def offset(self, F: str, size: str) -> str:
        """A vector fixed in a frame."""
        return self.choose(
            ["{a}*{F}.y - {F}.z", "{F}.x + {a}*{F}.z", "{a}*({F}.x + {F}.y + {F}.z)", "{a}*{F}.x"]
        ).format(F=F, a=size)

    # ---- joints ------------------------------------------------------------------------------

    def room(self) -> int:
        return self.shape.coordinates - len(self.q) - 4 * len(self.quaternions)

    def joint(self, at: Site) -> Site:
        """One to two moves from a place."""
        site = self.move(at)
        return self.move(site) if self.seldom() and self.room() else site

    def move(self, at: Site) -> Site:
        room = self.room()
        kinds = ["pin", "pin", "turn", "slide", "curve", "cosines"] if room else []
        kinds += ["universal"] if room >= 2 else []
        kinds += ["ball", "carriage"] if room >= 3 else []
        kinds += ["quaternion"] if room >= 4 and not self.quaternions else []
        kinds += ["driven turn", "driven slide"] if self.shape.specified else []
        if not kinds:
            return at
        return getattr(self, self.choose(kinds).replace(" ", "_"))(at)

    def frame(self, at: Site, expression: str) -> Site:
        B = self.fresh("B")
        self.write(f"{B} = {expression}")
        return self.place(at, "0*N.x", B)

    def place(self, at: Site, r: str, F: str) -> Site:
        P = self.fresh("P")
        self.write(f"{P} = {at.point}.offset({r}, frame={F})")
        return Site(P, F)

    def declared(self) -> str:
        q = self.coordinate()
        self.write(f'{q} = s.coordinate("{q}")')
        return q

    def seen(self, P: str, call: str, names: list[str]) -> Site:
        """A joint made by the language itself; its coordinates are looked up."""
        self.write(f"{P} = {call}")
        self.write(", ".join(names) + " = " + ", ".join(f's["{q}"]' for q in names))
        B = self.fresh("B")
        self.write(f"{B} = {P}.frame")
        return Site(P, B)

    def pin(self, at: Site) -> Site:
        q, axis = self.coordinate(), self.choose(AXES)
        site = self.seen(
            self.fresh("P"), f's.pin("{q}", {at.point}, {axis.format(F=at.frame)})', [q]
        )
        return Site(site.point, site.frame, at.frame if axis == "{F}.z" else None)

    def turn(self, at: Site) -> Site:
        q = self.declared()
        angles = ["2*{q}", "{q}/2", "-{q}", "{q} + {p}", "{q} - s.t"] + (
            ["{q} + {x}"] if self.shape.specified else []
        )
        return self.frame(
            at,
            f"{at.frame}.rotated({self.filled_with(q, self.choose(angles))}, "
            f"{self.choose(AXES).format(F=at.frame)})",
        )

    def filled_with(self, q: str, form: str) -> str:
        return form.format(q=q, p=self.choose(self.q), x=self.motion() if "{x}" in form else "")

    def cosines(self, at: Site) -> Site:
        q = self.declared()
        rows = self.choose(
            [
                "[[cos({q}), -sin({q}), 0], [sin({q}), cos({q}), 0], [0, 0, 1]]",
                "[[0, 0, 1], [sin({q}), cos({q}), 0], [-cos({q}), sin({q}), 0]]",
            ]
        )
        return self.frame(at, f"{at.frame}.oriented({rows.format(q=q)})")

    def slide(self, at: Site) -> Site:
        q = self.coordinate()
        F = self.choose([at.frame, "N"])
        P = self.fresh("P")
        self.write(f'{P} = s.slide("{q}", {at.point}, {self.choose(DIRECTIONS).format(F=F)})')
        self.write(f'{q} = s["{q}"]')
        return Site(P, at.frame)

    def curve(self, at: Site) -> Site:
        return self.place(at, self.choose(CURVES).format(q=self.declared(), F=at.frame), at.frame)

    def universal(self, at: Site) -> Site:
        names = [self.coordinate(), self.coordinate()]
        return self.seen(
            self.fresh("P"),
            f's.universal("{" ".join(names)}", {at.point}, "{self.choose(["xy", "zx", "yz"])}")',
            names,
        )

    def ball(self, at: Site) -> Site:
        names = [self.coordinate() for _ in range(3)]
        site = self.seen(
            self.fresh("P"),
            f's.ball("{" ".join(names)}", {at.point}, "{self.choose(ANGLES)}")',
            names,
        )
        self.vectors.append((f"{site.frame}.w", names))
        return site

    def carriage(self, at: Site) -> Site:
        names, F = [self.coordinate() for _ in range(3)], at.frame
        self.write(f'{", ".join(names)} = s.coordinates("{" ".join(names)}")')
        site = self.place(at, f"{names[0]}*{F}.x + {names[1]}*{F}.y + {names[2]}*{F}.z", F)
        self.vectors.append((f"{site.point}.v", names))
        return site

    def quaternion(self, at: Site) -> Site:
        names = [self.fresh("e") for _ in range(4)]
        self.quaternions.append(names)
        site = self.seen(self.fresh("P"), f's.ball("{" ".join(names)}", {at.point})', names)
        self.vectors.append((f"{site.frame}.w", []))
        return site

    def driven_turn(self, at: Site) -> Site:
        return self.frame(
            at, f"{at.frame}.rotated({self.motion()}, {self.choose(AXES).format(F=at.frame)})"
        )

    def driven_slide(self, at: Site) -> Site:
        return self.place(
            at, f"{self.motion()}*{self.choose(DIRECTIONS).format(F=at.frame)}", at.frame
        )

    # ---- masses ------------------------------------------------------------------------------

    def body(self) -> None:
        """A joint at one of the sites, a mass behind it, and a site for the next."""
        site = self.joint(self.choose(self.sites))
        G = self.fresh("G")
        self.write(
            f"{G} = {site.point}.offset({self.offset(site.frame, self.amount())}, "
            f"frame={site.frame})"
        )
        name, m = f'"b{len(self.bodies) + 1}"', self.amount()
        if not self.often():
            self.write(f"s.particle({name}, {m}, {G})")
            self.bodies.append((G, None))
        else:
            self.write(f"s.body({name}, {m}, {G}, {site.frame}, {self.inertia(site)})")
            self.bodies.append((G, site.frame))
        self.sites.append(
            self.place(site, self.offset(site.frame, self.number()), site.frame)
            if self.often()
            else Site(G, site.frame)
        )

    def inertia(self, site: Site) -> str:
        """A dyadic: with or without products, about the mass centre or the joint, along the
        body's axes or, if symmetric, others.
        """
        forms = [
            "{F}, 7, 8, 9)",
            "{F}, 7, 8, 9, 1, 1/2, -1/2)",
            "{F}, {0}, {1}, {2}, {3}, {4}, {5})",
            "{F}, {0}, {1}, {2}), about={P}",
        ]
        form = self.choose([*forms, "{U}, {0}, {0}, {1})"] if site.unspun else forms)
        moments = [self.constant() for k in range(6) if f"{{{k}}}" in form]
        return f"da.inertia({form.format(*moments, F=site.frame, U=site.unspun, P=site.point)}"

    def constant(self) -> str:
        J = self.fresh("J")
        self.write(f'{J} = s.constant("{J}")')
        return J

    # ---- speeds and rows ---------------------------------------------------------------------

    def independent(self) -> None:
        """Speeds and rows that go together: one row takes one coordinate's rate."""
        freedoms = len(self.q) + 3 * len(self.quaternions)
        holonomic = min(self.shape.holonomic, len(self.q), freedoms - 1)
        nonholonomic = min(
            self.shape.nonholonomic, len(self.q) - holonomic, freedoms - 1 - holonomic
        )
        order = self.draw(st.permutations(self.q))
        dependent, free = order[: holonomic + nonholonomic], order[holonomic + nonholonomic :]
        style = self.choose(["none", "fewer", "fewer", "all"] if self.shape.speeds else ["none"])
        if style != "none":
            self.triangular(self.vector_speeds(free), dependent)
        if style == "all":
            self.triangular(dependent, free)
        for k, q in enumerate(dependent):
            if k < holonomic:
                self.holonomic(q)
            else:
                self.nonholonomic(self.speeds[k - len(dependent)] if style == "all" else f"{q}.dot")

    def vector_speeds(self, free: list[str]) -> list[str]:
        """The components of ω or v along some axes: for a quaternion always, otherwise now and
        then; what is left of `free`.
        """
        for vector, names in self.vectors:
            if not set(names) <= set(free) or (names and self.often()):
                continue
            free = [q for q in free if q not in names]
            u = [self.fresh("u") for _ in range(3)]
            self.write(f'{", ".join(u)} = s.speeds("{" ".join(u)}", {vector}, {self.any_frame()})')
            self.speeds += u
        return free

    def triangular(self, own: Sequence[str], others: Sequence[str]) -> None:
        """u_i = a q̇_i + Σ_{j<i} b_j q̇_j + ψ: regular whatever a, b, ψ are, as long as a does
        not vanish.
        """
        for i, q in enumerate(own):
            terms = [
                self.choose(
                    [
                        "{q}.dot",
                        "2*{q}.dot",
                        "(2 + cos({p}))*{q}.dot",
                        "(1 + s.t/10)*{q}.dot",
                        "exp(s.t)*{q}.dot",
                    ]
                )
            ]
            earlier = [*own[:i], *others]
            if earlier and self.often():
                terms.append(f"{self.of_place()}*{self.choose(earlier)}.dot")
            if self.speeds and self.seldom():
                terms.append(self.choose(self.speeds))
            if self.seldom():
                terms.append(self.of_place())
            u = self.fresh("u")
            self.write(
                f'{u} = s.speed("{u}", {" + ".join(terms).format(q=q, p=self.any_coordinate())})'
            )
            self.speeds.append(u)

    def nonholonomic(self, leading: str) -> None:
        """leading = a function of place and, often, something of the motion of the bodies."""
        G, B = self.choose(self.bodies)
        forms = [
            "",
            " - {f}",
            " - {f}*{q}.dot",
            " - {f}*{q}.dot - {g}",
            " - {G}.v @ {F}.y",
            " - {f}*({G}.v @ N.x) + {g}",
        ]
        forms += [" - {B}.w @ {F}.z", " - {B}.w @ {B}.x + {f}"] if B else []
        form = self.choose(forms)
        f, g = (self.of_place() if x in form else "" for x in ("{f}", "{g}"))
        row = form.format(f=f, g=g, q=self.any_coordinate(), G=G, B=B, F=self.any_frame())
        self.write(f"s.constrain({leading}{row})")

    def holonomic(self, q: str) -> None:
        G, _ = self.choose(self.bodies)
        others = [H for H, _ in self.bodies if H != G]
        forms = [
            "{q} - {f}",
            "{q}*{p} - {f}",
            "2*{q} + sin({q} + {p})",
            "({G} - O) @ ({G} - O) - {f}",
            "({G} - O) @ N.x - {f}",
        ]
        forms += ["({G} - {H}) @ ({G} - {H}) - 2"] if others else []
        form = self.choose(forms)
        f = self.of_place() if "{f}" in form else ""
        row = form.format(q=q, p=self.any_coordinate(), G=G, H=self.choose(others or [G]), f=f)
        self.write(f"s.constrain({row})")

    # ---- loads -------------------------------------------------------------------------------

    def loads(self) -> None:
        if self.often():
            self.write(f"s.gravity({self.amount()}*(N.x - 2*N.y))")
        kinds = ["force", "reaction", "torque", "spring", "potential", "dissipation", "damper"]
        for kind in self.draw(st.lists(st.sampled_from(kinds), max_size=3)):
            getattr(self, kind)()

    def size(self) -> str:
        """How large a force is: a number, an input, or a function of the state."""
        kind = self.choose(["amount", "input", "place", "motion"])
        if kind == "input":
            F = self.fresh("F")
            self.write(f'{F} = s.input("{F}")')
            return F
        return {"amount": self.amount, "place": self.of_place, "motion": self.of_motion}[kind]()

    def spot(self) -> str:
        """A point of a body, or a place that none of them carries."""
        G, F = self.choose(self.bodies)
        forms = ["{G}", "{G}.offset({q}*N.y)", "{P}"] + (
            ["{G}.offset(2*{F}.y - {F}.z, frame={F})"] if F else []
        )
        return self.choose(forms).format(
            G=G, F=F, q=self.any_coordinate(), P=self.choose([site.point for site in self.sites])
        )

    def force(self) -> None:
        vector = (
            self.any_vector(self.size)
            if self.often()
            else f"-{self.amount()}*{self.choose(self.bodies)[0]}.v"
        )
        self.write(f"s.force({vector}, at={self.spot()})")

    def reaction(self) -> None:
        vector = self.any_vector(self.size)
        self.write(f"s.force({vector}, at={self.spot()}, reaction={self.spot()})")

    def torque(self) -> None:
        vector = self.any_vector(self.size)
        reaction = f", reaction={self.any_frame()}" if self.often() else ""
        self.write(f"s.torque({vector}, on={self.any_frame()}{reaction})")

    def ends(self) -> tuple[str, str]:
        """Two places that do not coincide: a mass centre, and one fixed in space or in another
        body.
        """
        G, _ = self.choose(self.bodies)
        others = [H for H, _ in self.bodies if H != G]
        return G, self.choose([*others, "O.offset(5*N.x + 3*N.y - 2*N.z)"])

    def spring(self) -> None:
        P, Q = self.ends()
        rest = f", rest={self.amount()}" if self.often() else ""
        self.write(f"s.spring({self.amount()}, {P}, {Q}{rest})")

    def damper(self) -> None:
        P, Q = self.ends()
        self.write(f"s.damper({self.amount()}, {P}, {Q})")

    def potential(self) -> None:
        forms = ["{f}*{q}**2/2", "{f}*{q}*{p}", "cos({q} - {p}) + {f}*{q}"]
        form = self.choose(forms)
        V = form.format(q=self.any_coordinate(), p=self.any_coordinate(), f=self.of_place())
        self.write(f"s.potential({V})")

    def dissipation(self) -> None:
        inside = (
            f"{self.any_coordinate()}.dot - {self.of_motion()}"
            if self.often()
            else f"{self.any_coordinate()}.dot"
        )
        self.write(f"s.dissipation({self.amount()}*({inside})**2/2)")


@st.composite
def descriptions(draw: Callable[[st.SearchStrategy[Any]], Any], shape: Shape) -> Description:
    """Programs that describe a system."""
    draft = Draft(draw, shape)
    draft.body()
    # one decision for each further body, so that each can be left out when a failure is shrunk
    while len(draft.bodies) < shape.bodies and draw(st.integers(0, 4)):
        draft.body()
    if not draft.q and not draft.quaternions:
        draft.shape = Shape(specified=False)
        draft.body()
    draft.independent()
    draft.loads()
    return Description(HEAD + "\n".join(draft.lines) + "\n")
