"""Derivations that read like the book: what is shown, and in which order."""

import re

import pytest

import dalembert as da
from cli.running import run
from dalembert import gallery
from dalembert.interface.report import system_report, terminal_renderer
from dalembert.interface.report.derivation_steps import LEVELS
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import LATEX, MARKDOWN
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES


def shown(name: str, *derive, level="teach") -> str:
    s = gallery.build(name)
    subject = system_report.ReportSubject(s, gallery.entry(name).title, gallery.entry(name).source)
    return terminal_renderer.render_text(
        system_report.derivation_report(
            subject, [d(s) for d in derive], FormulaWriter(), level=level
        )
    )


def in_order(text: str, *parts: str) -> None:
    """Each part follows the one before."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"missing after position {at}: {part}"
        at = found + len(part)


# Gre03 Ex. 4.2 as the book takes it: Ψ (4.39), Φ (4.40), T (4.45), operators (4.46)–(4.50), Maggi
# (4.51)–(4.53), reduced set
DISK = (
    "1. Description",
    "r of disk = x N.x + y N.y + r B.y",
    "v of disk = ẋ N.x + ẏ N.y − r φ̇ cos θ B.x + r θ̇ B.z",
    "ω of disk = φ̇ N.z + θ̇ A.x + ψ̇ B.z",
    "∂v/∂θ̇ of disk = r B.z",
    "The principle in general",
    "Σ_i (d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i) Φ_ij = 0",
    "u₄ = ẋ + r ψ̇ cos φ",
    "u₅ = ẏ + r ψ̇ sin φ",
    "Ψ = ⎢ 0  0  0  0     1    ⎥",
    "⎢ 1  0  0  0  r cos φ ⎥",
    "Φ = Ψ⁻¹",
    "⎡ 0  0  −r cos φ  1  0 ⎤",
    "T = 1/2 m ẋ² + 1/2 m ẏ² + 1/8 m r² (1 + 5 cos² θ) φ̇² + 5/8 m r² θ̇² + 1/4 m r² ψ̇²",
    "d/dt ∂T/∂ẋ − ∂T/∂x = m ẍ − m r φ̈ cos φ cos θ + m r θ̈ sin φ sin θ",
    "d/dt ∂T/∂ψ̇ − ∂T/∂ψ = 1/2 m r² ψ̈ + 1/2 m r² φ̈ cos θ − 1/2 m r² φ̇ θ̇ sin θ",
    "Q_θ = −m r g cos θ",
    "1/4 m r² (1 + 5 cos² θ) φ̈ − m r ẍ cos φ cos θ − m r ÿ sin φ cos θ + 1/2 m r² ψ̈ cos θ",
    (
        "5/4 m r² θ̈ + m r ẍ sin φ sin θ − m r ÿ cos φ sin θ + 5/4 m r² φ̇² sin θ cos θ + 1/2 "
        "m r² φ̇ "
        "ψ̇ sin θ = −m r g cos θ"
    ),
    "1/2 m r² ψ̈ − m r ẍ cos φ − m r ÿ sin φ + 3/2 m r² φ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ = 0",
    "What is eliminated, and how",
    "ẍ = −r ψ̈ cos φ + r φ̇ ψ̇ sin φ",
    (
        "1/4 m r² (1 + 5 cos² θ) φ̈ + 3/2 m r² ψ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ cos θ − 1/2 m "
        "r² θ̇ ψ̇ "
        "sin θ = 0"
    ),
    "5/4 m r² θ̈ + 5/4 m r² φ̇² sin θ cos θ + 3/2 m r² φ̇ ψ̇ sin θ = −m r g cos θ",
    "3/2 m r² ψ̈ + 3/2 m r² φ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ = 0",
    "Gre03  D. T. Greenwood",
)


def test_the_disk_by_maggi():
    in_order(shown("rolling-disk", da.maggi), *DISK)


def test_the_vehicle_by_boltzmann_hamel():
    # Bar00 (56)–(58) lose P₃; with u₃ kept until after differentiation it carries what (50) needs
    in_order(
        shown("vehicle", da.boltzmann_hamel),
        "u₃ = −Ẋ sin θ + Ẏ cos θ − L θ̇",
        "T̄ = 1/2 m u₁² + 1/2 (m L² + I_G) u₂² + m L u₂ u₃ + 1/2 m u₃²",
        "P₃ = m L u₂",
        "γ³₁₂ = −1",
        "γ³₂₁ = 1",
        "from P₃ in equation 1 = −m L u₂²",
        "from P₃ in equation 2 = m L u₁ u₂",
        "U₂ = h (F_D − F_C)",
        "u₃, are zero, and were set to zero after all was differentiated",
        "m u̇₁ − m L u₂² = F_C + F_D",
        "(m L² + I_G) u̇₂ + m L u₁ u₂ = h (F_D − F_C)",
    )


def test_every_step_is_computed_not_typed():
    s = gallery.build("vehicle")
    s.display(m="μ", L="ℓ")
    text = terminal_renderer.render_text(
        system_report.derivation_report(
            system_report.ReportSubject(s, "V"),
            [da.boltzmann_hamel(s)],
            FormulaWriter(),
            level="full",
        )
    )
    in_order(
        text,
        "T̄ = 1/2 μ u₁²",
        "P₃ = μ ℓ u₂",
        "from P₃ in equation 1 = −μ ℓ u₂²",
        "μ u̇₁ − μ ℓ u₂² = F_C + F_D",
    )
    assert "m L" not in text


@pytest.mark.parametrize(("principle", "derive"), PRINCIPLES, ids=[p.name for p, _ in PRINCIPLES])
def test_teach_says_why_at_every_step(principle, derive):
    d = derive(da.kinematics(gallery.build("vehicle")))
    assert principle.why
    assert [] == [step.title for step in d.steps if not step.why]
    text = shown("vehicle", derive)
    assert all(step.why in text for step in d.steps if step.items)
    assert principle.why in text


def test_levels_say_more_and_more():
    sizes = [len(shown("vehicle", da.maggi, level=level)) for level in ("equations", *LEVELS)]
    assert sorted(sizes) == sizes
    assert len(set(sizes)) == len(sizes)


def test_steps_are_numbered_through():
    text = shown("vehicle", da.kane, da.lagrange)
    by_kane, by_lagrange = (
        text.split("Lagrange's equations\n")[0],
        text.split("Lagrange's equations\n")[1],
    )
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", by_kane, re.MULTILINE)]
    assert list(range(1, len(numbers) + 1)) == numbers
    # what both share is shown once
    assert int(re.search(r"^(\d+)\. The principle", by_lagrange, re.MULTILINE)[1]) == int(
        re.search(r"^(\d+)\. The principle", by_kane, re.MULTILINE)[1]
    )


def test_the_same_steps_in_every_format():
    s = gallery.build("vehicle")
    blocks = list(
        system_report.derivation_report(
            system_report.ReportSubject(s, "Vehicle"), [da.maggi(s)], FormulaWriter(), level="teach"
        )
    )
    assert r"\begin{bmatrix}" in LATEX.text(blocks)
    assert r"\begin{bmatrix}" in MARKDOWN.text(blocks)
    assert "What is eliminated, and how" in MARKDOWN.text(blocks)


def test_a_matrix_that_is_too_wide_is_listed_by_entries():
    text = shown("snakeboard", da.maggi, level="brief") + shown(
        "spatial-chain", da.maggi, level="brief"
    )
    assert "Rows of Ψ" in text or "entries are zero" in text


def test_tables_of_frames_points_and_freedoms():
    text = shown("rolling-disk", da.kane)
    in_order(
        text,
        "weight of disk",
        "degrees of freedom (configuration)  5",
        "degrees of freedom (velocity)       3",
        "B      A       θ about A.x",
        "G      C     r B.y",
    )


@pytest.mark.parametrize("ending", ["tex", "md", "html", "txt"])
def test_a_file_says_its_format(tmp_path, ending):
    file = tmp_path / f"vehicle.{ending}"
    result = run("derive", "vehicle", "--by", "maggi", "--steps", "teach", "-o", str(file))
    assert 0 == result.exit_code
    assert "" == result.stdout
    begin = {"tex": r"\documentclass", "md": "# ", "html": "<!DOCTYPE html>", "txt": "Three-degree"}
    assert file.read_text(encoding="utf-8").startswith(begin[ending])


def test_bad_wishes_are_refused_in_a_sentence(tmp_path):
    assert (
        "--steps 'teech': did you mean 'teach'?"
        in run("derive", "vehicle", "--steps", "teech").stderr
    )
    assert "cannot write" in run("derive", "vehicle", "-o", str(tmp_path / "no" / "x.html")).stderr
    assert 2 == run("derive", "vehicle", "--steps").exit_code


def test_resultants_that_belong_to_no_body_are_not_shown_as_zero():
    """A torsion spring turns a massless rod: its couple acts on no rigid body."""
    s = da.System("pendulum")
    theta = s.coordinate("theta")
    m, k = s.constants("m k")
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bob", m, s.O.offset(-B.y, "P"))
    s.potential(k * theta**2 / 2)
    text = " ".join(str(da.dalembert(s).explain()).split())
    assert "F_i, M_Ci = not shown (the load along theta acts on no rigid body)" in text
    assert "F_i of bob" not in text
    assert "Q_θ = −k θ" in text
