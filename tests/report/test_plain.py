"""What a stream without Unicode shows."""

import io

import pytest

from dalembert.interface.report.ascii_fallback import replace_unencodable, to_ascii


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("θ̈ + ψ̇₁ − ẍ²", "theta'' + psi'_1 - x''^2"),
        ("½ ω·I·ω", "1/2 omega.I.omega"),
        ("Wᵀ Aᵀ = 0", "W^T A^T = 0"),
        ("Gibbs–Appell", "Gibbs-Appell"),
        ("e₀⁻¹ z₁₂ q_1ₓ", "e_0^-1 z_12 q_1_x"),
        ("═─", "=-"),
        ("雪", "?"),
        ("plain", "plain"),
        (
            "μ v̈ + EI v⁗ − N v″, v̇₁′(0), s′, rate′",
            "mu v'' + EI v_xxxx - N v_xx, v'_1_x(0), s_x, rate'",
        ),
        ("∫₀ᴸ x v̇ dx", "int_0^L x v' dx"),
    ],
)
def test_symbols_are_spelled_as_programs_spell_them(text, expected):
    assert expected == to_ascii(text)


def test_a_stream_replaces_only_what_it_lacks():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1")
    replace_unencodable(stream)
    stream.write("r² θ̇ \udcff")
    stream.flush()
    assert "r² theta' ?" == raw.getvalue().decode("latin-1")


def test_streams_that_cannot_be_told_are_left_alone():
    stream = io.StringIO()
    replace_unencodable(stream)
    stream.write("θ")
    assert "θ" == stream.getvalue()
