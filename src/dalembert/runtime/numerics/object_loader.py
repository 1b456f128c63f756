"""Object files of Linux on x86-64 as executable memory: sections, symbols, relocations.
Keywords: ELF, linker, mprotect.

LLVM's linker costs the import of llvmlite, a fifth of the time of a process whose code is in the
cache. Our code is position-independent and calls functions of C only: six kinds of relocation.
Anything else is left to the linker of LLVM.

Source: ELF-64 Object File Format 1.5; System V ABI, AMD64 supplement, section 4.4.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

IS_AVAILABLE: Final = (
    sys.platform == "linux" and sys.maxsize > 2**32 and os.uname().machine == "x86_64"
)
_HEADER: Final = b"\x7fELF\x02\x01"
_SECTION: Final = np.dtype(
    [
        *[(name, "<u4") for name in ("name", "type")],
        *[(name, "<u8") for name in ("flags", "address", "offset", "size")],
        *[(name, "<u4") for name in ("link", "info")],
        *[(name, "<u8") for name in ("align", "entry")],
    ]
)
_SYMBOL: Final = np.dtype(
    [
        *[("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")],
        *[("value", "<u8"), ("size", "<u8")],
    ]
)
_RELOCATION: Final = np.dtype(
    [("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")]
)
# types of sections
_SYMBOL_TABLE, _RELOCATIONS, _ZEROS = 2, 4, 8
_FILE: Final = 4
# flags of sections, and the protection of their memory
_WRITABLE, _ALLOCATED, _EXECUTABLE, _OF_THREAD = 1, 2, 4, 0x400
_PROTECTION: Final = {_EXECUTABLE: 1 | 4, 0: 1, _WRITABLE: 1 | 2}
# relocations: S + A in 8 bytes; S + A − P, of data and of calls; G + A − P, where G
# is the place of a word that holds S
_ABSOLUTE, _RELATIVE, _CALL, _BY_WORD = 1, 2, 4, (9, 41, 42)
# jmp *word(%rip): functions of the process may be further away than 2 GB
_JUMP: Final = np.frombuffer(b"\xff\x25", np.uint8)
_WORD: Final = 8

Integers = NDArray[np.int64]


class CannotLink(RuntimeError):
    """An object file with something that our code never contains, with its name."""


class LoadedObject:
    """An object file in memory: `loaded[name]` is the address of a global function or constant.
    The memory is freed with this object.
    """

    def __init__(self, image: bytes, imports: dict[str, int]) -> None:
        file = _ObjectFile(image)
        starts, parts, size = _layout(file)
        self._memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        bytes_ = np.frombuffer(self._memory, np.uint8)
        linked = _Linked(file, bytes_, starts, imports)
        for target, relocations in file.relocations:
            linked.relocate(int(starts[target]), relocations)
        for kind, begin, end in parts:
            _protect(bytes_.ctypes.data + begin, end - begin, _PROTECTION[kind])
        self._addresses = {name: int(linked.addresses[k]) for k, name in file.names.items()}

    def __getitem__(self, name: str) -> int:
        return self._addresses[name]


class _ObjectFile:
    """The tables of an object file."""

    def __init__(self, image: bytes) -> None:
        if image[: len(_HEADER)] != _HEADER:
            msg = "not an object file of 64 bits"
            raise CannotLink(msg)
        self.image = image
        begin = int.from_bytes(image[40:48], "little")
        count = int.from_bytes(image[60:62], "little")
        self.sections = np.frombuffer(image, _SECTION, count, begin)
        (table,) = np.flatnonzero(self.sections["type"] == _SYMBOL_TABLE).tolist()
        self.symbols = self.content(table).view(_SYMBOL)
        text = self.content(self.sections["link"][table]).tobytes()
        # {index: name} of global symbols
        self.names = {
            k: text[start : text.index(b"\0", start)].decode()
            for k, start in enumerate(self.symbols["name"].tolist())
            if start and self.symbols["info"][k] >> 4
        }
        # the name of the source file is a symbol too
        is_file = self.symbols["info"] & 15 == _FILE
        self.section_of = np.where(is_file, 0, self.symbols["section"])
        self.undefined = [k for k in self.names if not self.section_of[k]]
        flags = self.sections["flags"]
        if np.any(flags & _OF_THREAD) or np.any(self.section_of >= count):
            msg = "variables of threads, common or absolute symbols"
            raise CannotLink(msg)
        self.relocations = [
            (info, self.content(k).view(_RELOCATION))
            for k, info in enumerate(self.sections["info"].tolist())
            if self.sections["type"][k] == _RELOCATIONS and flags[info] & _ALLOCATED
        ]

    def content(self, k: int) -> NDArray[np.uint8]:
        """The bytes of section k in the file."""
        section = self.sections[k]
        return np.frombuffer(self.image, np.uint8, int(section["size"]), int(section["offset"]))


def _layout(file: _ObjectFile) -> tuple[Integers, list[tuple[int, int, int]], int]:
    """Where the sections start, the parts (kind, begin, end) in whole pages, and the size.

    Code, constants and variables are parts of their own. Two more starts are those of the jumps to
    functions of the process, behind the code, and of words with addresses of symbols, behind the
    constants.
    """
    flags = file.sections["flags"] & (_WRITABLE | _ALLOCATED | _EXECUTABLE)
    starts, parts, position = np.zeros(len(flags) + 2, np.int64), [], 0
    more = {
        _EXECUTABLE: [(len(flags), _WORD * len(file.undefined), _WORD)],
        0: [(len(flags) + 1, _WORD * len(file.symbols), _WORD)],
    }
    for kind in _PROTECTION:
        begin = position
        sections = [
            (k, int(file.sections["size"][k]), int(file.sections["align"][k]))
            for k in np.flatnonzero(flags == kind | _ALLOCATED).tolist()
        ]
        for k, size, align in sections + more.get(kind, []):
            starts[k] = position = _round_up(position, align or 1)
            position += size
        position = _round_up(position, mmap.PAGESIZE)
        parts.append((kind, begin, position))
    if position >= 2**31 or np.any(flags == _WRITABLE | _ALLOCATED | _EXECUTABLE):
        msg = "2 GB of code, or code that is writable"
        raise CannotLink(msg)
    return starts, [part for part in parts if part[1] < part[2]], position


def _round_up(position: int, unit: int) -> int:
    return -(-position // unit) * unit


class _Linked:
    """The sections of a file in memory, and the addresses of its symbols."""

    def __init__(
        self,
        file: _ObjectFile,
        memory: NDArray[np.uint8],
        starts: Integers,
        imports: dict[str, int],
    ) -> None:
        self.memory, base = memory, memory.ctypes.data
        for k in np.flatnonzero(file.sections["flags"] & _ALLOCATED).tolist():
            if file.sections["type"][k] != _ZEROS:
                content = file.content(k)
                memory[starts[k] : starts[k] + len(content)] = content
        jumps, self.words = starts[-2:].tolist()
        section = file.section_of
        self.offsets = file.symbols["value"].astype(np.int64) + starts[section]
        self.addresses = self.offsets + base
        for slot, k in enumerate(file.undefined):
            name = file.names[k]
            self.addresses[k] = imports.get(name) or _process_address(name)
            self.offsets[k] = jump = jumps + _WORD * slot
            memory[jump : jump + 2] = _JUMP
            self._write([jump + 2], np.array([self.words + _WORD * k - jump - 6]), "<i4")
        words = memory[self.words : self.words + _WORD * len(section)]
        words[:] = self.addresses.view(np.uint8)
        # data of the process has no jump
        self._is_near = section > 0

    def relocate(self, start: int, relocations: NDArray[Any]) -> None:
        """Write the addresses and distances that a section at `start` needs."""
        kind, symbol = relocations["type"], relocations["symbol"]
        place = relocations["offset"].astype(np.int64) + start
        is_absolute, is_by_word = kind == _ABSOLUTE, np.isin(kind, _BY_WORD)
        is_direct = (kind == _CALL) | (kind == _RELATIVE) & self._is_near[symbol]
        if not np.all(is_absolute | is_by_word | is_direct):
            unknown = sorted({*kind[~(is_absolute | is_by_word | is_direct)].tolist()})
            msg = f"relocations of the types {unknown}"
            raise CannotLink(msg)
        target = np.where(is_by_word, self.words + _WORD * symbol, self.offsets[symbol])
        near = ~is_absolute
        distance = target + relocations["addend"] - place
        self._write(place[near], distance[near], "<i4")
        absolute = self.addresses[symbol] + relocations["addend"]
        self._write(place[is_absolute], absolute[is_absolute], "<i8")

    def _write(self, places: Any, values: Integers, kind: str) -> None:
        """Integers at any places, which need not be aligned."""
        width = np.dtype(kind).itemsize
        content = values.astype(kind).view(np.uint8).reshape(len(values), width)
        self.memory[np.asarray(places)[:, None] + np.arange(width)] = content


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _process_address(name: str) -> int:
    """A function of C or of Python in this process."""
    try:
        return int(ctypes.cast(getattr(_process(), name), ctypes.c_void_p).value or 0)
    except AttributeError as error:
        msg = f"this process has no function {name}"
        raise CannotLink(msg) from error


def _protect(address: int, size: int, protection: int) -> None:
    function = _process().mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if function(address, size, protection):
        reason = os.strerror(ctypes.get_errno())
        msg = f"the system does not allow executable memory: {reason}"
        raise CannotLink(msg)
