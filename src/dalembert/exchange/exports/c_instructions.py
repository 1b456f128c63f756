"""Native text of our own builders as C99: numbers, addresses, loops and calls.
Keywords: code generation.

The decisions of a change of mode are written once, as LLVM text. A C file gets the same
instructions in the same order. Memory is in words of eight bytes, as the builders have it.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

_TYPES: Final = {"ptr": "void *", "i64": "int64_t ", "double": "double ", "i1": "int "}
_WORDS: Final = {"ptr": "P", "i64": "I", "double": "D"}
_BINARY: Final = {
    "add": "+", "fadd": "+", "sub": "-", "fsub": "-", "mul": "*", "fmul": "*", "fdiv": "/",
    "sdiv": "/", "srem": "%", "and": "&", "or": "|",
}  # fmt: skip
_RELATIONS: Final = {
    "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ne": "!=", "eq": "==",
    "olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "une": "!=",
}  # fmt: skip
_INTRINSICS: Final = {"fabs": "fabs", "sqrt": "sqrt", "maxnum": "fmax", "minnum": "fmin"}
_DEFINE: Final = re.compile(r"define (?:internal )?(\w+) @(\w+)\((.*)\) nounwind \{")
_NAME: Final = re.compile(r"%[\w.]+")

PRELUDE: Final = """\
/* words of eight bytes: addresses, whole numbers, numbers */
typedef union {
    void *p;
    int64_t i;
    double d;
} word;

#define AT(p, k) ((word *)(p) + (k))
#define P(p) (*(void **)(p))
#define I(p) (*(int64_t *)(p))
#define D(p) (*(double *)(p))

static int64_t word_of(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i;
}

static double number_of(int64_t i)
{
    double x;
    memcpy(&x, &i, sizeof x);
    return x;
}
"""


def functions_in_c(text: str, *wanted: str) -> list[str]:
    """Functions of a module and those that they call, as lines of C."""
    bodies: dict[str, list[str]] = {}
    for block in text.split("\n}"):
        lines = [line.strip() for line in block.splitlines()]
        begin = next((k for k, line in enumerate(lines) if line.startswith("define")), None)
        if begin is not None and (head := _DEFINE.match(lines[begin])):
            bodies[head[2]] = lines[begin:]
    needed = list(wanted)
    for name in needed:
        called = re.findall(r"call i64 @(\w+)\(", "\n".join(bodies[name]))
        needed += [c for c in dict.fromkeys(called) if c not in needed]
    functions = [_Function(bodies[name]) for name in bodies if name in needed]
    return [
        *(f"{f.signature};" for f in functions),
        "",
        *(line for f in functions for line in f.code()),
    ]


def _live_instructions(lines: list[str]) -> tuple[list[str], Counter[str]]:
    """The instructions without those whose results are not read, and how often each is read."""
    live: list[str] = []
    uses = Counter(name for line in lines if " = phi " in line for name in _NAME.findall(line))
    for line in reversed(lines):
        name, _, instruction = line.partition(" = ")
        if instruction and not uses[name] and not instruction.startswith("call"):
            continue
        if " = phi " not in line:
            # the function behind an address is known by name
            uses.update(_NAME.findall(re.sub(r"call void %\w+", "", instruction or line)))
        live.append(line)
    return live[::-1], uses


class _Function:
    """One function: values that are used once, in the block that computes them, become parts of
    an expression.
    """

    def __init__(self, lines: list[str]) -> None:
        head = _DEFINE.match(lines[0])
        assert head is not None
        self.result, self.name, given = head.groups()
        self.parameters = [p.split() for p in given.split(", ")]
        self.lines, self.uses = _live_instructions(lines[1:])
        self.texts: dict[str, str] = {}
        self.locals: dict[str, list[str]] = {kind: [] for kind in _TYPES}
        self.spaces: dict[str, list[str]] = {"i64": [], "double": []}

    @property
    def signature(self) -> str:
        arguments = ", ".join(f"{_TYPES[kind]}{name[1:]}" for kind, name in self.parameters)
        return f"static {_TYPES[self.result]}{self.name}({arguments})"

    def code(self) -> Iterator[str]:
        body = list(self._body())
        inside = "\n".join(body)
        yield f"{self.signature}\n{{"
        for kind, names in (*self.locals.items(), *self.spaces.items()):
            if names:
                star = "*" if kind == "ptr" else ""
                declared = f", {star}".join(names)
                yield f"    {_TYPES[kind].strip(' *')} {star}{declared};"
        yield from body
        yield from (
            f"    (void){name[1:]};"
            for _, name in self.parameters
            if not re.search(rf"\b{name[1:]}\b", inside)
        )
        yield "}\n"

    def _body(self) -> Iterator[str]:
        phis, block, made = self._loop_counters(), "", list[str]()
        for line, following in zip(self.lines, (*self.lines[1:], ""), strict=True):
            if line.endswith(":"):
                block = line[:-1]
                # a jump to the next line
                if made and made[-1].endswith(f"    goto {block};") and "if" not in made[-2]:
                    made[-1] = made[-1].removesuffix(f"    goto {block};").rstrip()
                made.append(f"{block}:;")
            elif " = phi " not in line:
                made += (f"    {x}" for x in self._statements(line, block, phis, following))
        targets = set(re.findall(r"goto (\w+);", "\n".join(made)))
        return (x for x in made if x and (not x.endswith(":;") or x[:-2] in targets))

    def _loop_counters(self) -> dict[tuple[str, str], str]:
        """{(block, the block before it): the assignment of its counter}"""
        found, block = {}, ""
        for line in self.lines:
            if line.endswith(":"):
                block = line[:-1]
            if " = phi " in line:
                name, text = line.split(" = phi i64 ")
                self.locals["i64"].append(self._declare(name))
                for value, before in re.findall(r"\[(\S+), %(\w+)\]", text):
                    found[block, before] = f"{name[1:]} = {value}"
        return found

    def _declare(self, name: str) -> str:
        self.texts[name] = name[1:]
        return name[1:]

    def _operand(self, text: str) -> str:
        """A name or a number."""
        word = text.rsplit(maxsplit=1)[-1]
        if word.startswith("%"):
            return self.texts.get(word, word[1:])
        if word.startswith("0x"):
            x = struct.unpack(">d", bytes.fromhex(word[2:]))[0]
            return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(repr(x), repr(x))
        return {"null": "NULL", "true": "1", "false": "0"}.get(word, word)

    def _goto(self, label: str, block: str, phis: dict[tuple[str, str], str]) -> str:
        counter = phis.get((label, block))
        if counter is None:
            return f"goto {label};"
        name, value = counter.split(" = ")
        return f"{name} = {self._operand(value).strip('()')};\n    goto {label};"

    def _statements(
        self, line: str, block: str, phis: dict[tuple[str, str], str], following: str
    ) -> Iterator[str]:
        if line.startswith("br label"):
            yield self._goto(line.split("%")[1], block, phis)
        elif line.startswith("br i1"):
            condition, yes, no = line.removeprefix("br i1 ").split(", ")
            assert following == f"{yes.split('%')[1]}:", line
            yield f"if (!{self._operand(condition)})"
            yield f"    goto {no.split('%')[1]};"
        elif line.startswith("ret "):
            yield f"return {self._operand(line)};"
        elif line.startswith("store "):
            value, place = line.removeprefix("store ").split(", ")[:2]
            yield f"{_WORDS[value.split()[0]]}({self._operand(place)}) = {self._operand(value)};"
        elif line.startswith("call void"):
            given = line.partition("(")[2].removesuffix(")").split(", ")
            yield f"compiled_quantities({', '.join(map(self._operand, given))});"
        else:
            yield from self._assignment(line)

    def _assignment(self, line: str) -> Iterator[str]:
        name, instruction = line.split(" = ", 1)
        op, _, rest = instruction.partition(" ")
        if op == "alloca":
            kind = rest.split(",")[0]
            self.spaces[kind].append(f"{name[1:]}")
            self.texts[name] = f"&{name[1:]}"
            return
        kind, text = self._expression(op, rest)
        if op in ("load", "call") or self.uses[name] > 1:
            if self.uses[name] == 0:
                yield f"{text};"
                return
            self.locals[kind].append(self._declare(name))
            yield f"{name[1:]} = {text};"
        else:
            self.texts[name] = text if op in ("getelementptr", "bitcast") else f"({text})"

    def _expression(self, op: str, rest: str) -> tuple[str, str]:
        """Its type, and the text."""
        if op == "call":
            kind, _, call = rest.partition(" @")
            target, _, given = call.partition("(")
            arguments = ", ".join(map(self._operand, given.removesuffix(")").split(", ")))
            called = _INTRINSICS[target.split(".")[1]] if target.startswith("llvm.") else target
            return kind, f"{called}({arguments})"
        if op in ("icmp", "fcmp"):
            relation, _, compared = rest.partition(" ")
            a, b = map(self._operand, compared.split(", "))
            return "i1", f"{a} {_RELATIONS[relation]} {b}"
        if op == "bitcast":
            value, kind = rest.split(" to ")
            return kind, f"{'word_of' if kind == 'i64' else 'number_of'}({self._operand(value)})"
        if op == "zext":
            value, kind = rest.split(" to ")
            return kind, f"(int64_t){self._operand(value)}"
        parts = rest.replace("nuw nsw ", "").split(", ")
        kind = parts[0].split()[0]
        if op == "load":
            return kind, f"{_WORDS[kind]}({self._operand(parts[1])})"
        if op == "getelementptr":
            return "ptr", f"AT({self._operand(parts[1])}, {self._operand(parts[2])})"
        if op == "select":
            yes, no = map(self._operand, parts[1:])
            return parts[1].split()[0], f"{self._operand(parts[0])} ? {yes} : {no}"
        if op == "xor":
            return "i1", f"!{self._operand(parts[0])}"
        a, b = map(self._operand, parts)
        return kind, f"{a} {_BINARY[op]} {b}"
