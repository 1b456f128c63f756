r"""m l \ddot{\theta} → m, l, theta'': a line of an answer as tokens, plain text or LaTeX.

Nothing of a line is executed. Commands that only set type are skipped; every token knows its source
columns.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from dalembert.analysis.verify.characters import Characters, plain_characters
from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass

LONGEST_LINE: Final = 60_000
MOST_TOKENS: Final = 20_000
_SKIPPED: Final = frozenset(
    {
        *("left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "middle"),
        *("displaystyle", "textstyle", "quad", "qquad", "limits", "nonumber", "notag", "rm", "bf"),
    }
)
_STYLES: Final = frozenset(
    ("mathrm", "mathbf", "mathit", "mathsf", "text", "textrm", "textit", "operatorname", "vec")
)
_FRACTIONS: Final = frozenset({"frac", "dfrac", "tfrac", "cfrac"})
_MARKS: Final = {"dot": 1, "ddot": 2}
_SIGNS: Final = {"cdot": "*", "times": "*", "ast": "*", "div": "/", "prime": "'", "equiv": "="}
_VARIANTS: Final = {"varphi": "phi", "vartheta": "theta", "varepsilon": "epsilon", "partial": "∂"}
_S: Final = "[ ~]{0,3}"
_NAME: Final = r"\\?[^\W\d_]\w*"
_INDEXED: Final = rf"{_NAME}(?:_\{{\w{{1,8}}\}})?"
_D: Final = rf"(?:\\(?:mathrm|text){_S}\{{{_S}d{_S}\}}|\bd)"
_SQUARE: Final = rf"(?:{_S}(?:\*\*|\^){_S}(?:2|\{{{_S}2{_S}\}})|2)"
_FRAC: Final = rf"\\[dt]?frac{_S}\{{{_S}"
_CLOSED: Final = rf"{_S}\}}"
# d²x/dt² and dx/dt, as LaTeX fractions and in one line, become x'' and x'
_RATES: Final = (
    (
        rf"{_FRAC}{_D}{_SQUARE}{_S}({_INDEXED}){_CLOSED}{_S}\{{{_S}{_D}{_S}t{_SQUARE}{_CLOSED}",
        r" \1'' ",
    ),
    (rf"{_FRAC}{_D}{_S}({_INDEXED}){_CLOSED}{_S}\{{{_S}{_D}{_S}t{_CLOSED}", r" \1' "),
    (rf"(?<![\w\\]){_D}{_SQUARE}{_S}({_NAME}){_S}/{_S}{_D}{_S}t{_SQUARE}", r" \1'' "),
    (rf"(?<![\w\\]){_D}{_S}({_NAME}'*){_S}/{_S}{_D}{_S}t\b(?!')", r" \1' "),
)
_FUNCTION: Final = r"(sin|cos|tan|sqrt|exp|log|ln)"
_GREEK: Final = "[α-ωΑ-Ω]"
# braces that are printed are brackets
_BRACES: Final = ((r"\\\{|\\lbrace\b", "("), (r"\\\}|\\rbrace\b", ")"))
# sinθcosφ has spaces where a reader sees them
_SPACES: Final = (
    (rf"(?<=[α-ωΑ-Ω'\d)]){_FUNCTION}(?=\W|{_GREEK}|$)", r" \1"),
    (rf"(?<![^\W\d_α-ωΑ-Ω]){_FUNCTION}(?={_GREEK})", r"\1 "),
)
_TOKEN: Final = re.compile(
    r"""(?P<space>[ ~]+|\\[,;:! ]|\$+)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?![\w.]))?)
      | (?P<word>[^\W\d_]\w*(?:(?<=_)\{[^{}]*\})?'*(?:[^\W\d_]\w*'+)*|∂)
      | (?P<command>\\[A-Za-z]+)
      | (?P<sign>\*\*|==|:=|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A number, a word with its rates, a sign or a LaTeX command; `spaced` if a space stands
    before.
    """

    kind: str
    text: str
    start: int
    stop: int
    spaced: bool = False
    dots: int = 0


class CannotRead(BadExpression):
    """A line of an answer that cannot be read; the message shows it with a caret."""


def refuse(line: Characters | str, start: int, sentence: str, stop: int | None = None) -> NoReturn:
    """Raise CannotRead, with the line and a caret under its column."""
    source = line if isinstance(line, str) else line.source
    room = 72
    left = max(0, start - room // 2)
    shown = source[left : left + room].replace("\n", " ")
    width = max(1, min((stop or start + 1) - start, room - (start - left)))
    error = CannotRead(f"{sentence}\n  {shown}\n  {' ' * (start - left)}{'^' * width}")
    error.column, error.sentence = start + 1, sentence
    raise error from None


def tokens(source: str) -> tuple[Characters, list[Token]]:
    """The line in plain characters, and its tokens."""
    if len(source) > LONGEST_LINE:
        refuse(
            source, 0, f"this line has {len(source)} characters; at most {LONGEST_LINE} are read"
        )
    line = plain_characters(source)
    for pattern, new in (*_BRACES, *_RATES, *_SPACES):
        line = line.replace(pattern, new)
    return line, _scan(line)


def _scan(line: Characters) -> list[Token]:
    out: list[Token] = []
    at, spaced = 0, False
    while at < len(line.text):
        match = _TOKEN.match(line.text, at)
        assert match is not None
        kind = str(match.lastgroup)
        at = match.end()
        if kind == "space":
            spaced = True
            continue
        # the dot of θ̇₁ comes last and stands before the index
        stop = max(line.columns[match.start() : at]) + 1
        token = Token(kind, match[0], line.column(match.start()), stop, spaced)
        spaced = False
        if kind == "command":
            at, spaced = _command(line, token, at, out)
        elif kind == "word":
            out.append(_word(token))
        else:
            out.append(token)
        if len(out) > MOST_TOKENS:
            refuse(line, token.start, f"more than {MOST_TOKENS} symbols in one line")
    return out


def _word(token: Token) -> Token:
    r"""x_{1} as x_1; primes at the end are counted."""
    text = re.sub(r"_\{([^{}]*)\}", lambda m: "_" + re.sub(r"\W|text|mathrm", "", m[1]), token.text)
    body = text.rstrip("'")
    return Token("word", body, token.start, token.stop, token.spaced, len(text) - len(body))


def _command(line: Characters, token: Token, at: int, out: list[Token]) -> tuple[int, bool]:
    """A LaTeX command: skipped, a sign, a word, or left to the parser; where to go on."""
    name = token.text[1:]
    if name in _SKIPPED:
        return at, token.spaced
    if name in ("begin", "end"):
        group = re.compile(r"\s*\{[a-z]+\*?\}(\{[lcr| ]*\})?").match(line.text, at)
        return (at if group is None else group.end()), True
    if name in _SIGNS:
        out.append(Token("sign", _SIGNS[name], token.start, token.stop, token.spaced))
        return at, False
    if name in _STYLES:
        group = re.compile(r"\s*\{\s*([^\W\d_]\w*)\s*\}").match(line.text, at)
        if group is not None:
            begin, end = line.column(group.start(1)), line.column(group.end() - 1)
            out.append(Token("word", group[1], begin, end, token.spaced))
            return _index(line, group.end(), out), False
        return at, token.spaced
    if name in _FRACTIONS or name in _MARKS or name == "sqrt":
        kind = "frac" if name in _FRACTIONS else name
        out.append(
            Token("command", kind, token.start, token.stop, token.spaced, _MARKS.get(name, 0))
        )
        return at, False
    out.append(Token("word", _VARIANTS.get(name, name), token.start, token.stop, token.spaced))
    return _index(line, at, out), False


def _index(line: Characters, at: int, out: list[Token]) -> int:
    r"""The index and the primes behind \theta: \theta_1, \theta_{12}, \theta_{e_{1} x}, \theta'."""
    text = line.text
    start = re.compile(r"[ ~]*_[ ~]*").match(text, at)
    end, below = at, ""
    if start is not None:
        end = _group_end(line, start.end())
        below = re.sub(r"\W|_|mathrm|text|rm", "", text[start.end() : end])
    primes = re.compile(r"'*").match(text, end)
    assert primes is not None
    last = out.pop()
    name = f"{last.text}_{below}" if below else last.text
    out.append(
        Token(
            "word", name, last.start, line.column(primes.end() - 1) + 1, last.spaced, len(primes[0])
        )
    )
    return primes.end()


def _group_end(line: Characters, at: int) -> int:
    """Where the group {…} or the single character at a place ends."""
    text, depth = line.text, 0
    if at >= len(text) or text[at] != "{":
        return min(at + 1, len(text))
    for k in range(at, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k + 1
    refuse(line, line.column(at), "this { is not closed")
