"""M = L D Lᵀ along the spanning tree of a linkage, in a number of operations proportional to its
links.
Keywords: articulated bodies, closed loops.

Joint rates are eliminated from the tips to the root. L⁻¹ b carries the wrenches of b from the tips
to the root, L⁻ᵀ y the accelerations of y from the root to the tips. The constraint rows close the
loops of the tree: A M⁻¹ Aᵀ takes one pass for each of them.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapters 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping

from dalembert.errors import BadExpression, NotApplicable
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.equations.sparse_saddle_point import (
    SaddleSolution,
    saddle_point_of_factor,
)
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross3,
    scale3,
    wrench_power,
)
from dalembert.mechanics.kinematics.kinematic_tree import KinematicTree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.articulated_inertia import InertiaBlocks, add_to_parent
from dalembert.symbolic.algebra.expression_graph import copy_expressions
from dalembert.symbolic.algebra.tape import Tape, Triple


class TreeFactor:
    """The columns U = I S and 1/D of every joint rate, in the order of the speeds of `kin`."""

    def __init__(self, kin: Kinematics) -> None:
        t = self.tape = kin.tape
        self.tree = KinematicTree(kin, spanning=True)
        rates = {t.rate(x): x for x in self.tree.links_moved_by}
        self.place = {rates[i]: k for k, i in enumerate(kin.udot) if i in rates}
        if len(self.place) != max(kin.n_u, len(rates)) or any(
            len(links) > 1 for links in self.tree.links_moved_by.values()
        ):
            msg = (
                "a coordinate moves several links of the spanning tree, or a speed is no joint rate"
            )
            raise NotApplicable(msg)
        # {k: M_kk}, by the inertia of all that a link carries; 1/D; U
        self.diagonal: dict[int, int] = {}
        self.D_inverse: dict[int, int] = {}
        self._U: dict[int, tuple[Triple, Triple]] = {}
        composite, articulated = self._link_inertias(), self._link_inertias()
        for link in reversed(self.tree.links):
            self._eliminate(link, composite[link], articulated[link])
            if link.parent is not None:
                for inertias in (composite, articulated):
                    add_to_parent(t, inertias[link.parent], inertias[link], link)

    def _link_inertias(self) -> dict[TreeLink, InertiaBlocks]:
        """The masses fixed to each link."""
        empty: Matrix3 = (self.tree.zero,) * 3
        inertias = {link: InertiaBlocks(empty, empty, empty) for link in self.tree.links}
        for link, I in inertias.items():
            for body, rho in link.masses:
                I.add_body(self.tape, body, rho, link.frame)
        return inertias

    def _eliminate(self, link: TreeLink, whole: InertiaBlocks, I: InertiaBlocks) -> None:
        t = self.tape
        for x, s_w, s_v in reversed(link.joint_axes):
            k, wheel = self.place[x], self.tree.flywheels.get(x, t.zero)
            rigid = wrench_power(t, s_w, s_v, *whole.wrench(t, s_w, s_v))
            self.diagonal[k] = t.add(rigid, wheel)
            U_n, U_f = self._U[k] = I.wrench(t, s_w, s_v)
            D = t.add(wrench_power(t, s_w, s_v, U_n, U_f), wheel)
            self.D_inverse[k] = t.div(t.one, D)
            I.eliminate(t, U_n, U_f, self.D_inverse[k])
            if x not in self.tree.flywheels:
                I.clear_axis(t, s_w, s_v)

    def forward(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻¹ b"""
        t, zero = self.tape, self.tree.zero
        y: dict[int, int] = {}
        wrenches: dict[TreeLink, tuple[Triple, Triple]] = {}
        for link in reversed(self.tree.links):
            n, f = wrenches.pop(link, (zero, zero))
            for x, s_w, s_v in reversed(link.joint_axes):
                k = self.place[x]
                value = t.sub(b.get(k, t.zero), wrench_power(t, s_w, s_v, n, f))
                if value != t.zero:
                    y[k], push = value, t.mul(self.D_inverse[k], value)
                    U_n, U_f = self._U[k]
                    n, f = add3(t, n, scale3(t, push, U_n)), add3(t, f, scale3(t, push, U_f))
            if link.parent is not None:
                F = link.parent.frame
                n = zero if link.keeps_orientation else F.express(t, n, link.frame)
                f = F.express(t, f, link.frame)
                n_p, f_p = wrenches.get(link.parent, (zero, zero))
                moved = add3(t, n, cross3(t, link.r, f))
                wrenches[link.parent] = add3(t, n_p, moved), add3(t, f_p, f)
        return y

    def backward(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻ᵀ b"""
        t, zero = self.tape, self.tree.zero
        x_of: dict[int, int] = {}
        accelerations: dict[TreeLink, tuple[Triple, Triple]] = {}
        for link in self.tree.links:
            alpha = a = zero
            if link.parent is not None:
                alpha, a = accelerations[link.parent]
                F = link.parent.frame
                a = link.frame.express(t, add3(t, a, cross3(t, alpha, link.r)), F)
                alpha = zero if link.keeps_orientation else link.frame.express(t, alpha, F)
            for x, s_w, s_v in link.joint_axes:
                k = self.place[x]
                power = wrench_power(t, *self._U[k], alpha, a)
                x_of[k] = t.sub(b[k], t.mul(self.D_inverse[k], power))
                alpha = add3(t, alpha, scale3(t, x_of[k], s_w))
                a = add3(t, a, scale3(t, x_of[k], s_v))
            accelerations[link] = alpha, a
        return x_of


def tree_solution(
    kin: Kinematics, equations: SaddlePointEquations
) -> tuple[Tape, SaddleSolution] | None:
    """ż, λ and the projection by the spanning tree, on a tape of their own; None where there is no
    such tree, or as many constraint rows as links.
    """
    kin = kin.fork()
    t, rows = kin.tape, equations.rows
    try:
        factor = TreeFactor(kin)
    except (NotApplicable, BadExpression):
        return None

    def here(nodes: list[int]) -> list[int]:
        return copy_expressions(equations.tape, t, nodes)

    entries = iter(here([i for row in rows for i in row.A.values()]))
    A = [{k: next(entries) for k in row.A} for row in rows]
    diagonal = [factor.diagonal[k] for k in range(kin.n_u)]
    saddle = saddle_point_of_factor(t, factor, diagonal, A)
    if saddle is None:
        return None
    phi = here([equations.tape.zero if x is None else x for x in equations.phi])
    f, gamma, e = here([*equations.f]), here([r.gamma for r in rows]), here([r.e for r in rows])
    return t, saddle.solve_all(f, gamma, phi, e)
