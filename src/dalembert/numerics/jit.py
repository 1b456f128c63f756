"""LLVM text becomes functions with addresses.

One just-in-time linker serves the process. What was compiled once on this machine is read from the
object cache; code is unloaded when the `Library` that holds it is dropped.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from dalembert.errors import DalembertError
from dalembert.numerics.cache import ObjectCache
from dalembert.once import held_over_forks

if TYPE_CHECKING:
    from types import ModuleType

Level = Literal[0, 1, 2, 3]

_FORMAT: Final = 1
# a linker keeps some 10 kB for every library it ever held, so a new one takes over after so many
_LIBRARIES_PER_LINKER: Final = 64
_SMALL_CODE: Final = os.name == "posix"


_lock = threading.Lock()
_retired: deque[Any] = deque()


class CannotCompile(DalembertError):
    """Native code that cannot be made on this machine, with the reason."""


class Library:
    """Loaded code. Addresses are valid as long as this object lives."""

    __slots__ = ("__weakref__", "_addresses", "_tracker")

    def __init__(self, tracker: Any, exports: tuple[str, ...]) -> None:
        self._tracker = tracker
        self._addresses: dict[str, int] = {name: tracker[name] for name in exports}

    def address(self, name: str) -> int:
        """Where the exported function `name` starts."""
        return self._addresses[name]

    def __del__(self, lock: threading.Lock = _lock, retired: deque[Any] = _retired) -> None:
        retired.append(self._tracker)
        # the list has the last reference now, and unloading happens under the lock
        del self._tracker
        # whoever holds the lock now unloads the code when done
        if lock.acquire(blocking=False):
            try:
                retired.clear()
            finally:
                lock.release()


def load(
    ir_text: str | Callable[[], str], exports: tuple[str, ...], *, identity: bytes | None = None, optimize: Level = 2, codegen: Level = 2
) -> Library:
    """The functions `exports` of a module in LLVM text, compiled or from the cache, ready to be called.

    `optimize` is the level of LLVM's own passes over the text (0: none, right for straight-line code
    that has no common subexpressions left), `codegen` that of instruction selection and scheduling.
    Where writing the text takes time, give a function that writes it, and in `identity` what determines
    it; it is called only if the cache has nothing under that identity.
    The functions of the C mathematics library can be declared and called.
    """
    if identity is None:
        ir_text = ir_text if isinstance(ir_text, str) else ir_text()
        identity = ir_text.encode()
    cache = ObjectCache.of_environment()
    with _held():
        key = _key(identity, optimize, codegen)
        image = cache.read(key)
        if image is not None:
            # an object this linker refuses is compiled again
            with suppress(RuntimeError):
                return _link(image, exports)
    text = ir_text if isinstance(ir_text, str) else ir_text()
    with _held():
        image = _compile(text, optimize, codegen)
        cache.write(key, image)
        return _link(image, exports)


def host_features() -> dict[str, bool]:
    """What the processor can do, by LLVM's names of its features."""
    with _held():
        return dict(_features())


_names = itertools.count()
_linker: list[Any] = []

# a child never inherits a compilation half done
held_over_forks(_lock)


@contextmanager
def _held() -> Iterator[None]:
    """The only thread inside LLVM; on leaving, code retired meanwhile is unloaded."""
    with _lock:
        yield
        _retired.clear()


@functools.cache
def _llvm() -> ModuleType:
    try:
        llvm = importlib.import_module("llvmlite.binding")
    except ImportError as error:
        msg = "native code needs the package llvmlite: install it with pip (there is no current version for Intel Macs)"
        raise CannotCompile(msg) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def _features() -> dict[str, bool]:
    return dict(_llvm().get_host_cpu_features())


def host() -> tuple[str, str, str]:
    """Triple, processor and features of the machine this runs on."""
    with _held():
        return _host()


def compile_for(triple: str, cpu: str, features: str, text: str, *, abi: str = "", optimize: Level = 1) -> bytes:
    """A module in LLVM text as an object file for any processor that LLVM knows."""
    with _held():
        llvm = _llvm()
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        try:
            machine = llvm.Target.from_triple(triple).create_target_machine(
                cpu=cpu, features=features, opt=2, reloc="pic", codemodel="default", abiname=abi
            )
        except RuntimeError as error:
            msg = f"this LLVM cannot write code for {triple}: {error}; give a name such as aarch64-linux-gnu or riscv64-linux-gnu"
            raise CannotCompile(msg) from error
        return _emit(machine, f'target triple = "{triple}"\ntarget datalayout = "{machine.target_data}"\n{text}', optimize)


@functools.cache
def _host() -> tuple[str, str, str]:
    """Triple, processor and features: what code is compiled for."""
    llvm = _llvm()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def _machine(codegen: Level) -> Any:
    triple, cpu, features = _host()
    # small code reaches its constants without loading their addresses first; the linker keeps both together
    model = {"codemodel": "small", "reloc": "pic"} if _SMALL_CODE else {}
    return _llvm().Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=codegen, jit=True, **model)


@functools.cache
def fingerprint() -> bytes:
    """Everything but the text and the levels that decides what the object code is."""
    version = importlib.import_module("llvmlite").__version__
    return "\0".join((str(_FORMAT), version, *map(str, _llvm().llvm_version_info), *_host())).encode()


def _key(identity: bytes, optimize: Level, codegen: Level) -> str:
    digest = hashlib.sha256(fingerprint())
    digest.update(f"\0{optimize}\0{codegen}\0".encode())
    digest.update(identity)
    return digest.hexdigest()


def _compile(ir_text: str, optimize: Level, codegen: Level) -> bytes:
    """The module as an object file for this machine."""
    return _emit(_machine(codegen), ir_text, optimize)


def _emit(machine: Any, ir_text: str, optimize: Level) -> bytes:
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(ir_text)
        module.verify()
    except RuntimeError as error:
        msg = f"internal error, please report it: this is not valid LLVM text: {error}"
        raise CannotCompile(msg) from error
    if optimize:
        # llvmlite never frees the passes, some 60 kB each time: nothing for code compiled once per process
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=optimize))
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)  # type: ignore[no-any-return]


def _link(image: bytes, exports: tuple[str, ...]) -> Library:
    llvm, number = _llvm(), next(_names)
    if not _linker or number % _LIBRARIES_PER_LINKER == 0:
        _linker[:] = [llvm.create_lljit_compiler(_machine(2), use_jit_link=_SMALL_CODE)]
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in exports:
        builder.export_symbol(name)
    return Library(builder.link(_linker[0], f"library{number}"), exports)
