"""Phrases that no reader of the field would search for: none in the documentation, ever fewer in
the source.

`plain_english.txt` lists how often each phrase is left in the source. A number may only become
smaller; lower it when you have rewritten a sentence.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT = Path(__file__).with_name("plain_english.txt")
# public names and quotations, which stay
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)

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
}


_ANY = re.compile(rf"\b(?=(?:{'|'.join(p for p, _ in PHRASES.values())})\b)")


@cache
def words(path: Path) -> str:
    """The prose of a page, the whole text of a source file: small letters, single spaces."""
    text = path.read_text(encoding="utf-8")
    return " ".join((_CODE.sub("", text) if path.suffix == ".md" else text).lower().split())


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
    """Code, pages and data of the library: docstrings, messages, help."""
    endings = {".py", ".pyi", ".js", ".html", ".css", ".toml"}
    return tuple(p for p in (ROOT / "src").rglob("*") if p.suffix in endings)


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


def left() -> dict[str, int]:
    """{phrase: how often the source may still contain it}."""
    lines = LEFT.read_text(encoding="utf-8").splitlines()
    return {
        phrase: int(number)
        for phrase, _, number in (line.rpartition(": ") for line in lines if line)
    }


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_page_contains_the_phrase(phrase):
    assert {} == count(phrase, documentation()), f"write: {PHRASES[phrase][1]}"


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_source_contains_the_phrase_at_most_as_often_as_before(phrase):
    files = count(phrase, source())
    assert sum(files.values()) <= left().get(phrase, 0), f"write: {PHRASES[phrase][1]}; {files}"


def test_the_list_is_long_and_every_leftover_is_a_phrase():
    assert 60 <= len(PHRASES)
    assert set() == set(left()) - set(PHRASES)


def test_a_planted_phrase_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Energy rides\nalong with every run. `rides along` is code.")
    assert {"rides along": 1} == hits(words(page))


if __name__ == "__main__":
    # python tests/docs/test_plain_english.py: lower the numbers to what is left
    now = {phrase: sum(count(phrase, source()).values()) for phrase in PHRASES}
    LEFT.write_text("".join(f"{phrase}: {n}\n" for phrase, n in now.items() if n), encoding="utf-8")
