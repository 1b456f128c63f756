"""compare: the table and how it ends."""

from cli.running import run
from dalembert.errors import NotApplicable
from dalembert.interface.api import comparison as api
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES


def test_every_principle_has_its_place():
    result = run("compare", "vehicle")
    assert 0 == result.exit_code
    assert "" == result.stderr
    assert "Bar00 Fig. 1" in result.stdout
    for words in (
        "generalized velocities",
        "generalized speeds",
        "vector",
        "scalar",
        "Fewest operations: ",
    ):
        assert words in result.stdout
    table = result.stdout[result.stdout.index("approach") : result.stdout.index("Fewest")]
    for principle, _ in PRINCIPLES:
        assert (3 if principle.approach == "both" else 2) == table.count(principle.title)
    assert len(PRINCIPLES) == table.count(" ms")
    assert "missing on the left of equation 1: −m L u₂²" in result.stdout


def test_a_principle_that_does_not_apply_is_explained(monkeypatch):
    def refuses(_):
        reason = "the weather is bad"
        raise NotApplicable(reason)

    (kane, derive), (jourdain, _) = PRINCIPLES[0], PRINCIPLES[2]
    monkeypatch.setattr(api, "PRINCIPLES", [(kane, derive), (jourdain, refuses)])
    result = run("compare", "simple-pendulum")
    assert 0 == result.exit_code
    assert "Jourdain's principle does not apply: the weather is bad." in result.stdout


def test_help_has_examples():
    assert "dalembert compare rolling-disk" in run("--help").stdout
    assert "\n  dalembert compare" in run("compare", "--help").stdout


def test_a_system_that_is_not_there_is_one_sentence():
    result = run("compare", "vehicel")
    assert 2 == result.exit_code
    assert (
        "dalembert: no system named 'vehicel' in the gallery; did you mean 'vehicle'?\n"
        == result.stderr
    )


def test_ease_of_integration_is_shown_or_refused():
    shown = run("compare", "vehicle", "--for", "1").stdout
    assert "Ease of integration" in shown
    assert "In q, q̇, λ: Newton–Euler equations" in shown
    refused = run("compare", "vehicle", "--for", "1", "--start", "u9=1")
    assert 0 != refused.exit_code
    assert "u9" in refused.stderr
