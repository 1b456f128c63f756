"""gallery, derive, agree, report: what they print and how they end."""

import re
from dataclasses import replace

import pytest

from cli.running import run
from dalembert import gallery
from dalembert.cli import agreement, report
from dalembert.mechanics.agreement import agreement_table as certificate


def test_gallery_lists_every_system_on_a_line_of_its_own():
    result = run("gallery")
    assert 0 == result.exit_code
    head, _, *rows = result.stdout.splitlines()
    assert ["name", "title", "source", "what"] == head.split()
    assert list(gallery.names()) == [row.split()[0] for row in rows]
    assert all(gallery.entry(row.split()[0]).description in row for row in rows)


def test_derive_prints_what_the_book_prints():
    result = run("derive", "rolling-disk", "--by", "all")
    assert 0 == result.exit_code
    # Gre03 (4.57), (4.59), (4.60)
    assert (
        "1/4 m r² (1 + 5 cos² θ) φ̈ + 3/2 m r² ψ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ cos θ − 1/2 m r² θ̇ "
        "ψ̇ sin θ = 0" in result.stdout
    )
    assert (
        "5/4 m r² θ̈ + 5/4 m r² φ̇² sin θ cos θ + 3/2 m r² φ̇ ψ̇ sin θ = −m r g cos θ" in result.stdout
    )
    assert "3/2 m r² ψ̈ + 3/2 m r² φ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ = 0" in result.stdout
    assert "ẋ = −r ψ̇ cos φ" in result.stdout
    titles = [result.stdout.index(principle.title) for principle, _ in certificate.PRINCIPLES]
    assert sorted(titles) == titles


def test_derive_by_one_principle_says_which():
    result = run("derive", "cart-and-bar", "--by", "lagrange")
    assert "Lagrange's equations" in result.stdout
    assert "Kane's equations" not in result.stdout
    assert "4/3 m a² θ̈ + m a ẍ cos θ = −m a g sin θ + 2 a F cos θ" in result.stdout


def test_steps_are_numbered_and_end_in_the_equations():
    result = run("derive", "rolling-disk", "--steps", "brief")
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", result.stdout, re.MULTILINE)]
    assert list(range(1, len(numbers) + 1)) == numbers
    assert "Generalized inertia forces" in result.stdout
    assert f"{len(numbers)}. Equations of motion" in result.stdout


def test_latex_is_balanced_and_has_accelerations():
    result = run("derive", "rolling-disk", "--by", "all", "--format", "latex", "--steps", "full")
    body = re.sub(r"\\[{}]", "", result.stdout)
    assert body.count("{") == body.count("}")
    assert len(re.findall(r"\\left\b", body)) == len(re.findall(r"\\right\b", body))
    assert sorted(re.findall(r"\\begin{(.*?)}", body)) == sorted(re.findall(r"\\end{(.*?)}", body))
    assert r"\ddot{\phi}" in body
    assert body.isascii()


def test_markdown_has_headings_and_formulas():
    result = run("derive", "rolling-disk", "--format", "markdown")
    assert result.stdout.startswith("# Rolling disk\n")
    assert "\n## Kane's equations\n" in result.stdout
    assert result.stdout.count("$$") % 2 == 0
    assert r"\ddot{\psi}" in result.stdout


def test_report_tells_everything():
    result = run("report", "rolling-disk", "--text")
    assert 0 == result.exit_code
    for part in (
        "A thin uniform disk rolls without slipping",
        "Gre03 Ex. 4.2",
        "9.81",
        "weight of disk",
        "Always satisfied, and omitted: rolling of disk along z.",
        (
            "5 coordinates, 0 holonomic and 2 nonholonomic constraint rows: 5 degrees of freedom "
            "in configuration, 3 in velocity."
        ),
        "agree exactly",
        "5 of 5 identities hold",
        "[Gre03 (4.57)]",
        "All 5 follow exactly from the derived equations.",
    ):
        assert part in result.stdout


def test_report_names_what_does_not_contribute():
    result = run("report", "hoist", "--text")
    assert "none: noncontributing" in result.stdout
    assert "No equation of motion depends on m_Q, x." in result.stdout
    assert "3 cos t" in result.stdout


def test_a_report_in_latex_is_a_whole_document():
    result = run("report", "vehicle", "--format", "latex")
    assert result.stdout.startswith(r"\documentclass")
    assert result.stdout.endswith("\\end{document}\n")


def test_agree_ends_with_zero():
    result = run("agree", "vehicle")
    assert 0 == result.exit_code
    assert "agree exactly" in result.stdout
    assert "CPU time" not in result.stdout
    assert "CPU time" in run("agree", "vehicle", "--times").stdout


def test_agree_all_has_a_line_for_every_system(monkeypatch):
    monkeypatch.setattr(agreement.systems, "names", lambda: ("simple-pendulum", "vehicle"))
    result = run("agree", "--all")
    assert 0 == result.exit_code
    assert ["simple-pendulum", "vehicle", "2"] == [
        line.split()[0] for line in result.stdout.splitlines()
    ]


@pytest.mark.parametrize(
    "arguments", [("agree", "vehicle"), ("agree", "--all"), ("report", "vehicle", "--text")]
)
def test_any_disagreement_ends_with_one(monkeypatch, arguments):
    monkeypatch.setattr(agreement.systems, "names", lambda: ("vehicle",))
    honest = agreement.agreement

    def crooked(system):
        found = honest(system)
        first, second, *rest = found.rows
        wrong = type(second)(
            second.principle, applicable=True, agrees=False, verdict="DIFFERS in row 1"
        )
        return replace(found, rows=(first, wrong, *rest))

    for command in (agreement, report):
        monkeypatch.setattr(command, "agreement", crooked)
    result = run(*arguments)
    assert 1 == result.exit_code
    assert "DISAGREEMENT" in result.stdout


def test_a_failed_audit_ends_with_one(monkeypatch):
    honest = certificate.audit_kinematics

    def crooked(kin, seed):
        (first, *rest), decision = honest(kin, seed)
        return (replace(first, holds=False), *rest), decision

    monkeypatch.setattr(certificate, "audit_kinematics", crooked)
    result = run("agree", "vehicle")
    assert 1 == result.exit_code
    assert "identity that fails" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("agree", "vehicle"), ("agree", "--all"), ("report", "vehicle", "--text")]
)
def test_what_is_undecided_ends_with_three_and_the_reason(monkeypatch, arguments):
    monkeypatch.setattr(agreement.systems, "names", lambda: ("vehicle",))
    honest = agreement.agreement

    def unsure(system):
        found = honest(system)
        first, second, *rest = found.rows
        return replace(
            found,
            rows=(first, replace(second, agrees=None, verdict="undecided: too little time"), *rest),
        )

    for command in (agreement, report):
        monkeypatch.setattr(command, "agreement", unsure)
    result = run(*arguments)
    assert 3 == result.exit_code
    assert "UNDECIDED" in result.stdout
    assert "too little time" in result.stdout
    assert "agree exactly" not in result.stdout


def test_version():
    result = run("--version")
    assert 0 == result.exit_code
    assert re.fullmatch(r"dalembert \d+\.\d+.*\n", result.stdout)


def test_help_teaches_with_examples():
    first = run().stdout
    assert len(first.splitlines()) <= 10
    assert "dalembert gallery" in first
    assert "dalembert --help" in first
    for example in (
        "dalembert derive rolling-disk --steps teach",
        "def pendulum():",
        "dalembert derive file.py:pendulum",
    ):
        assert example in run("--help").stdout
    for name in ("gallery", "derive", "agree", "report"):
        assert f"\n  dalembert {name}" in run(name, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("derive",), "missing argument 'SYSTEM' (dalembert derive --help shows how)"),
        (
            ("simulate", "four-bar", "--duration", "1"),
            "no option --duration: it is called --for (dalembert simulate --help shows how)",
        ),
        (
            ("simulate", "simple-pendulum", "--start", "zzz=1"),
            "start: no coordinate, rate or speed 'zzz'; the coordinates are phi",
        ),
        (
            ("derive", "rolling-dsk"),
            "no system named 'rolling-dsk' in the gallery; did you mean 'rolling-disk'?",
        ),
        (("derive", "rolling-disk", "--by", "kan"), "--by 'kan': did you mean 'kane'?"),
        (("derive", "rolling-disk", "--by", ""), "--by '': unknown (--by takes kane"),
        (("derive", "rolling-disk", "--format", "tex"), "--format 'tex': did you mean 'text'?"),
        (
            ("report", "rolling-disk", "--format", "pdf"),
            "--format 'pdf': unknown (--format takes text, latex, markdown, html)",
        ),
        (("derive", "rolling-disk", "--frmat", "text"), "no such option '--frmat'"),
        (("derive", "rolling-disk", "vehicle"), "got unexpected extra argument"),
        (("derive", ""), "no system is named"),
        (("derive", " "), "no system is named"),
        (("derive", "--", "--by"), "no system named '--by'"),
        (("derive", "__init__"), "no system named '__init__'"),
        (("derive", "entry"), "no system named 'entry'"),
        (("simulat",), "no such command 'simulat'"),
        (("agree",), "name one system, or say --all"),
        (("agree", "--all", "vehicle"), "name one system or say --all, not both"),
    ],
)
def test_bad_usage_is_one_sentence_on_stderr(arguments, sentence):
    result = run(*arguments)
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert result.stderr.startswith("dalembert: ")
    assert sentence in result.stderr
    assert 1 == result.stderr.count("\n")
    assert "Traceback" not in result.stderr


def test_a_large_system_is_described_unless_all_is_requested():
    short = run("derive", "spatial-chain", "--set", "n=24").stdout
    assert "24 equations of motion in 24 independent speeds" in short
    assert "q̈ = D⁻¹ (τ − sᵀ (I_A (a_j + a₀) + p))" in short
    assert 20_000 > len(short.encode())
    assert "operations" not in run("derive", "double-pendulum").stdout
