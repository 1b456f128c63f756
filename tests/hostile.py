"""Texts that somebody may type, paste or send: none of them may be executed, and none may end in
a traceback.
"""

import random

MARK = "PWNED"
CODE = (
    f"__import__('os').system('touch {MARK}')",
    f"exec(\"open('{MARK}', 'w')\")",
    f"$(touch {MARK})",
    f"`touch {MARK}`",
    f"; touch {MARK} #",
    f"| touch {MARK}",
    f"<script>{MARK}()</script>",
    f'"><img src=x onerror={MARK}()>',
    f"javascript:{MARK}()",
    f"\\input{{/etc/{MARK}}}",
    f"\\write18{{touch {MARK}}}",
    f"{{{{{MARK}}}}}",
    "().__class__.__bases__[0].__subclasses__()",
    "lambda: 0",
    "x.__class__",
    "f'{x}'",
    "%s%s%n",
    "{0.__class__}",
)
NUMBERS = (
    "nan",
    "-inf",
    "1e400",
    "1e-400",
    "-0",
    "1/0",
    "0/0",
    "1_0",
    "０１",
    "0x10",
    "9" * 5000,
    "1." + "3" * 5000,
    "1e99999999",
    "9**9**9**9",
)
SHAPES = (
    "",
    " ",
    ":",
    "=",
    "a=b=c",
    "--",
    "-",
    "-o",
    "()",
    "((",
    "))",
    "x" * 5000,
    "(" * 3000 + "x" + ")" * 3000,
    "-" * 3000 + "x",
    "x+" * 3000 + "x",
)
LETTERS = (
    "θ",
    "x\u0301",
    "\u202ex",
    "\u200b",
    "🤖",
    "\udcff",
    "\x1b[31mred",
    "[bold]x[/bold]",
    "x\ny",
    "x\ty",
    "x\rDONE",
    "\x07",
    "ﬁ",
    "ⅷ",
    "x²",
    "x′",
    "λ",
    "_",
    "'",
    '"',
    "\\",
)
PATHS = (
    "../../x",
    "/etc/passwd",
    "/dev/null/x",
    "a/b/c",
    ".",
    "..",
    "~",
    "CON",
    "a" * 300,
    "x.py:f",
    "x.py",
    "*.csv",
    "?",
    "file:///etc/passwd",
)
POWERS = (
    "x**1000000000",
    "x**-1e9",
    "x**x**x",
    "2**100000",
    "(x+1)**999",
    "sin(" * 500 + "x" + ")" * 500,
    "x'''''''",
    "x.dot.dot.dot.dot",
    "1e5x",
    "sin",
    "sin()",
    "sin(x, x)",
    "x x",
)
_PLAIN = (*CODE, *NUMBERS, *SHAPES, *LETTERS, *PATHS, *POWERS)
# by themselves, and where an expression has begun well
TEXTS = (*_PLAIN, *(f"x + {text}" for text in _PLAIN), *(f"sin({text})" for text in CODE))


def mutated(lines: list[list[str]], seed: int) -> list[str]:
    """One of the command lines with one to three random changes."""
    chance = random.Random(seed)
    line = list(chance.choice(lines))
    for _ in range(1 + chance.randrange(3)):
        k, text = chance.randrange(len(line) + 1), chance.choice(TEXTS)
        kind = chance.randrange(6)
        if kind == 0 or k == len(line):
            line.insert(k, text)
        elif kind == 1:
            del line[k]
        elif kind == 2:
            line.insert(k, line[k])
        elif kind == 3:
            line[k] = text
        elif kind == 4:
            name, equals, _ = line[k].partition("=")
            line[k] = f"{name}{equals or ' '}{text}"
        else:
            word, place = line[k], chance.randrange(len(line[k]) + 1)
            line[k] = word[:place] + chance.choice("=:.-x\\θ0 ") + word[place + 1 :]
    # no argument of a process holds a zero byte
    return [word.replace("\0", "") for word in line]
