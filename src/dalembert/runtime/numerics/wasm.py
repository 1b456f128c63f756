"""A WebAssembly object as a module that a page can load: what it exports, and what it asks its host
for.

LLVM's object file is itself a module; it lacks an export section, and its imports are checked here
against a list. Memory is imported from the host (`env.__linear_memory`), as are the elementary
functions of `jit.IMPORTS`. Modules are kept like native code, by the hash of their text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.jit import (
    IMPORTS,
    WASM32,
    CannotCompile,
    Level,
    toolchain_fingerprint,
)
from dalembert.runtime.numerics.object_cache import ObjectCache

_MAGIC: Final = b"\0asm\1\0\0\0"
_CUSTOM, _IMPORT, _EXPORT = 0, 2, 7
# sections that stand after the exports
_LATER: Final = (8, 9, 10, 11, 12)
_FUNCTION: Final = 0
# what the linker of a page provides besides functions
_LINKER_SYMBOLS: Final = frozenset(
    {"__linear_memory", "__stack_pointer", "__indirect_function_table"}
)
_SYMBOL_TABLE: Final = 8
_UNDEFINED, _NAMED = 0x10, 0x40
_DATA, _SECTION = 1, 3


# what the instructions of WebAssembly lack: the lesser and the greater of two numbers where one of
# them may be NaN
_MIN_MAX_IR: Final = "\n".join(
    f"""define double @{name}(double %a, double %b) nounwind {{
  %first = fcmp {relation} double %a, %b
  %other = fcmp uno double %b, %b
  %take = or i1 %first, %other
  %result = select i1 %take, double %a, double %b
  ret double %result
}}"""
    for name, relation in (("fmin", "olt"), ("fmax", "ogt"))
)


def wasm_module(text: str, exports: Sequence[str], *, optimize: Level = 1) -> bytes:
    """LLVM text as a WebAssembly module with these functions exported, from the cache where it
    was made before.
    """
    text = f"{text}\n{_MIN_MAX_IR}"
    cache = ObjectCache.from_environment()
    digest = hashlib.sha256(
        toolchain_fingerprint() + repr((WASM32, tuple(exports), optimize)).encode()
    )
    digest.update(text.encode())
    binary = cache.read(digest.hexdigest())
    if binary is None:
        binary = add_export_section(WASM32.object_code(text, optimize=optimize), exports)
        cache.write(digest.hexdigest(), binary)
    return binary


def add_export_section(image: bytes, exports: Sequence[str]) -> bytes:
    """An object file with an export section; what it imports must be on the list."""
    parts = list(_sections(image))
    _check_imports(imported_names(image))
    places = _function_indices(
        next(body for kind, body in parts if kind == _CUSTOM and body[1:8] == b"linking")
    )
    missing = [name for name in exports if name not in places]
    if missing:
        msg = f"internal error, please report it: the module does not define {', '.join(missing)}"
        raise CannotCompile(msg)
    listed = b"".join(_text(name) + b"\0" + _leb128(places[name]) for name in exports)
    body, out, done = _leb128(len(exports)) + listed, bytearray(_MAGIC), False
    for kind, content in parts:
        if kind == _CUSTOM:
            continue
        if kind in _LATER and not done:
            out += bytes([_EXPORT]) + _leb128(len(body)) + body
            done = True
        out += bytes([kind]) + _leb128(len(content)) + content
    return bytes(out)


def imported_names(image: bytes) -> set[str]:
    """The names of all that the module asks its host for."""
    names: set[str] = set()
    for kind, body in _sections(image):
        if kind == _IMPORT:
            read = _ByteReader(body)
            for _ in range(read.read_leb128()):
                read.text()
                names.add(read.text())
                _skip_import(read)
    return names


def _check_imports(names: set[str]) -> None:
    foreign = sorted(names - IMPORTS - _LINKER_SYMBOLS)
    if foreign:
        msg = (
            f"this cannot run in a page: it would call {', '.join(foreign)}, which no page provides"
        )
        raise CannotCompile(msg)


def _skip_import(read: _ByteReader) -> None:
    """The description of one import: a function's type, a table, a memory or a global."""
    kind = read.byte()
    if kind in (1, 2):
        if kind == 1:
            read.byte()
        limits = read.byte()
        read.read_leb128()
        if limits & 1:
            read.read_leb128()
    elif kind == _FUNCTION:
        read.read_leb128()
    else:
        read.byte()
        read.byte()


def _function_indices(linking: bytes) -> dict[str, int]:
    """{name: index} of the functions the module defines, from its symbol table."""
    read = _ByteReader(linking)
    read.text()
    read.read_leb128()
    while not read.at_end:
        kind, size = read.byte(), read.read_leb128()
        if kind == _SYMBOL_TABLE:
            return dict(_symbols(_ByteReader(read.read_bytes(size))))
        read.read_bytes(size)
    return {}


def _symbols(read: _ByteReader) -> Iterator[tuple[str, int]]:
    for _ in range(read.read_leb128()):
        what, flags = read.byte(), read.read_leb128()
        if what == _DATA:
            read.text()
            if not flags & _UNDEFINED:
                for _ in range(3):
                    read.read_leb128()
        elif what == _SECTION:
            read.read_leb128()
        else:
            index = read.read_leb128()
            if not flags & _UNDEFINED or flags & _NAMED:
                name = read.text()
                if what == _FUNCTION and not flags & _UNDEFINED:
                    yield name, index


def _sections(image: bytes) -> Iterator[tuple[int, bytes]]:
    read = _ByteReader(image, len(_MAGIC))
    while not read.at_end:
        kind = read.byte()
        yield kind, read.read_bytes(read.read_leb128())


@dataclass
class _ByteReader:
    """Bytes read one thing after the other."""

    data: bytes
    place: int = 0

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.data)

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def read_bytes(self, size: int) -> bytes:
        self.place += size
        return self.data[self.place - size : self.place]

    def read_leb128(self) -> int:
        """Seven bits to a byte, the lowest first."""
        n = shift = 0
        while True:
            b = self.byte()
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n

    def text(self) -> str:
        return self.read_bytes(self.read_leb128()).decode()


def _leb128(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def _text(name: str) -> bytes:
    return _leb128(len(name.encode())) + name.encode()
