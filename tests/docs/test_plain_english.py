"""Phrases that no reader of the field would search for: none in the documentation or source."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# public names and quotations, which stay
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)

# sentences of the source are split over several literals
_JOINT = re.compile(r"[\"'] *\n *[frb]*[\"']")

# {phrase: (pattern, what to write instead)}
PHRASES = {
    "so many": (r"so many", "the number"),
    "beside": (r"beside", "next to, with, in addition to"),
    "rides along": (r"rid(?:e|es|ing) along|rides? on", "is integrated alongside; is attached to"),
    "hangs on": (r"hangs? on|hung on", "is defined relative to; child of"),
    "told apart": (
        r"(?:told|tells?|tell) apart|told from",
        "distinguished; separately identifiable",
    ),
    "is told": (r"(?:is|are|was|were|be|been) told", "is reported"),
    "as a part of": (r"as a part of", "relative to"),
    "is said": (r"(?:is|are|was|were) said", "is reported, is printed"),
    "stands beside": (r"stands? beside", "is next to"),
    "anew": (r"anew", "again, recomputed"),
    "a run alone": (r"runs? alone", "a single run"),
    "way back": (r"way back", "constraint projection"),
    "in a straight line": (r"in a straight line", "by unrolled elimination"),
    "is looked for": (r"(?:is|are) looked (?:for|at)", "is searched"),
    "to be had": (r"to be had|cannot be had|can be had", "available"),
    "unless told otherwise": (
        r"unless told otherwise|unless (?:it is )?said otherwise",
        "by default",
    ),
    "lest": (r"lest", "so that … not"),
    "mend": (r"mend(?:s|ed|ing)?", "fix, repair"),
    "get on": (r"gets? on(?! with)", "make progress"),
    "is watched": (r"(?:is|are|was|were) watched", "is an event; is a guard"),
    "freedoms": (r"freedoms? of (?:velocity|configuration)|freedoms", "degrees of freedom"),
    "lanes of the processor": (r"lanes of the processor", "vectorized (SIMD)"),
    "bits of a run": (r"(?:the|with the) bits of", "bit-identical to"),
    "take hold of": (r"tak(?:e|es|en|ing) hold of", "drag, interact with"),
    "moving picture": (r"moving pictures?", "animation"),
    "who of them": (r"who of them", "which"),
    "nobody": (r"nobody", "no one; passive with the subject"),
    "in vain": (r"in vain", "without result"),
    "begins elsewhere": (r"begins? elsewhere", "starts at another time"),
    "holds against": (r"(?:hold|holds|held|holding) (?:\w+ ){0,2}against", "checks against"),
    "gets its sentence": (
        r"gets? (?:its|their|a|the) (?:sentence|word)s?",
        "is refused with a clear message",
    ),
    "rows too many": (r"rows too many", "redundant constraints"),
    # added to the list
    "told": (r"told", "reported, specified"),
    "tells": (r"tells?", "reports, distinguishes"),
    "said": (r"said", "reported, stated"),
    "side by side": (r"side by side|one by one", "vectorized; sequentially"),
    "whoever": (r"whoever", "the reader, the user"),
    "with a word": (r"with a word|in a sentence|a word on", "with a message"),
    "what of": (r"what of", "the part of … that"),
    "nothing kept": (r"nothing (?:is )?kept", "cold cache"),
    "what is left": (r"what is left", "the remainder"),
    "brought back": (r"brought back|brings? back|carried back", "projected"),
    "jumps and bends": (r"jumps? (?:and|or) bends?", "discontinuities and kinks"),
    "crawls": (r"crawl(?:s|ed)?", "stalls; makes no progress"),
    "at hand": (r"at hand", "available"),
    "can tell": (r"no telling|cannot tell|can tell", "cannot determine"),
    "stands in": (r"stands? (?:in|there|where|below|above|under)", "is"),
    "goes on": (r"goes on|went on", "continues"),
    "is asked": (r"(?:is|are|was|were) asked", "is requested, is evaluated"),
    "says nothing": (r"says? nothing", "is not specified"),
    "knows nothing": (r"knows? (?:nothing|no)", "has no"),
    "comes about": (r"c[ao]mes? about", "is derived"),
    "specified motion": (r"specified motions?", "prescribed motion"),
    "found with the motion": (r"found with the motion", "solved for during the simulation"),
    "what is given": (r"what (?:is|was) given", "the given values"),
    "of the scale": (r"of (?:the|its) scale", "relative"),
    "made once": (r"made once", "cached"),
    "passed over": (r"passed over", "missed, skipped"),
    "is known of": (r"is known of", "is known about; is given for"),
    "leaves free": (r"what \w+(?: \w+){0,3} leaves? free", "degrees of freedom"),
    "out of reach": (r"out of reach", "not available"),
    "die out": (r"d(?:ie|ies|ying) out", "decay"),
    "stands on positions": (r"stands? on (?:positions|velocities)", "position constraint"),
    "what enforces": (r"what enforces", "the forces that enforce"),
    "leave it loose": (r"leaves? it loose", "allow a rigid motion"),
    "all over": (r"all over (?:a|the)", "everywhere in"),
    "of itself": (r"of itself", "relative; always"),
    "no word for": (r"no words? for", "is not supported"),
    "has no place": (r"ha(?:s|ve) no place", "no position; no point of application"),
    "ask of": (r"asks? of", "conditions on"),
    "moved on": (r"moved on by", "advanced by"),
    "what goes wrong": (r"what (?:goes|went) wrong", "the error"),
}


_ANY = re.compile(rf"\b(?=(?:{'|'.join(p for p, _ in PHRASES.values())})\b)")


@cache
def words(path: Path) -> str:
    """The prose of a page, the whole text of a source file: small letters, single spaces."""
    text = path.read_text(encoding="utf-8")
    text = _CODE.sub("", text) if path.suffix == ".md" else _JOINT.sub("", text)
    return " ".join(text.lower().split())


@cache
def documentation() -> tuple[Path, ...]:
    """Pages that users read; the pages for developers count with the source."""
    pages = [p for p in (ROOT / "docs").rglob("*.md") if not {"_build", "decisions"} & set(p.parts)]
    developers = {"architecture.md", "glossary.md"}
    return (
        *(p for p in pages if p.name not in developers),
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
    )


@cache
def source() -> tuple[Path, ...]:
    """Code, pages and data of the library: docstrings, messages, help. The table of former public
    names keeps their words.
    """
    endings = {".py", ".pyi", ".js", ".html", ".css", ".toml"}
    files = (p for p in (ROOT / "src").rglob("*") if p.suffix in endings)
    return tuple(p for p in files if p.name != "renamed_names.py")


@cache
def hits(text: str) -> dict[str, int]:
    """{phrase: how often it occurs in a text}: one pass for all, since the source is long."""
    places = [text[match.start() : match.start() + 60] for match in _ANY.finditer(text)]
    starts = {
        phrase: [p for p in places if re.match(rf"(?:{words})\b", p)]
        for phrase, (words, _) in PHRASES.items()
    }
    return {phrase: len(times) for phrase, times in starts.items() if times}


def count(phrase: str, paths: tuple[Path, ...]) -> dict[str, int]:
    """{file: how often the phrase occurs in it}."""
    times = {str(p.relative_to(ROOT)): hits(words(p)).get(phrase, 0) for p in paths}
    return {name: number for name, number in times.items() if number}


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_page_contains_the_phrase(phrase):
    assert {} == count(phrase, documentation()), f"write: {PHRASES[phrase][1]}"


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_file_of_the_source_contains_the_phrase(phrase):
    assert {} == count(phrase, source()), f"write: {PHRASES[phrase][1]}"


def test_the_list_is_long():
    assert 70 <= len(PHRASES)


def test_a_planted_phrase_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Energy rides\nalong with every run. `rides along` is code.")
    assert {"rides along": 1} == hits(words(page))
    code = tmp_path / "code.py"
    code.write_text('msg = (\n    f"energy rides "\n    f"along with {x}"\n)\n')
    assert {"rides along": 1} == hits(words(code))
