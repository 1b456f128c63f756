"""LLVM text becomes functions with addresses here, or an object file for another processor.
Keywords: just-in-time.

One just-in-time linker serves the process. What was compiled once on this machine is read from the
object cache; code is unloaded when the `Library` that holds it is dropped. Several modules of text
are joined to one.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
import platform
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from dalembert.errors import DalembertError
from dalembert.foundation.caching import cached_call, reacquire_after_fork
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import object_loader
from dalembert.runtime.numerics.object_cache import ObjectCache, new_digest

if TYPE_CHECKING:
    from types import ModuleType

Level = Literal[0, 1, 2, 3]
# "unscheduled" is level 0 with the instruction selection of the other levels, for very long code:
# it compiles in half the time of level 1, and calls take two thirds of the time of level 0
Codegen = Level | Literal["unscheduled"]

# what code may call that it does not bring along: elementary functions that every platform has
IMPORTS: Final = frozenset(
    {
        "sin",
        "cos",
        "exp",
        "log",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "atan2",
        "fmin",
        "fmax",
        # recorded data, see table_functions.py
        "table_interval",
        "table_lookup",
    }
)
# chapters whose functions write native text for others
_CODEGEN_CHAPTERS: Final = ("runtime/numerics", "runtime/ode")
_FORMAT: Final = 1
# a linker keeps some 10 kB for every library it ever held, so a new one takes over after this
# number
_LIBRARIES_PER_LINKER: Final = 64
_SMALL_CODE: Final = os.name == "posix"
# model and features of the processor on Linux
_MODEL: Final = "/sys/devices/system/cpu/modalias"
# seconds: no file system has coarser times
_RESOLUTION: Final = 3.0
_GLOBAL_NAME: Final = re.compile(r"@([-\w.$]+)")


_lock = threading.Lock()
_pending_unload: deque[Any] = deque()


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

    def __del__(self, lock: threading.Lock = _lock, retired: deque[Any] = _pending_unload) -> None:
        retired.append(self._tracker)
        # the list has the last reference now, and unloading happens under the lock
        del self._tracker
        # the holder of the lock unloads the code when done
        if lock.acquire(blocking=False):
            try:
                retired.clear()
            finally:
                lock.release()


def load(
    ir_text: str | Callable[[], str],
    exports: tuple[str, ...],
    *,
    identity: bytes | None = None,
    optimize: Level = 0,
    codegen: Codegen | Callable[[], Codegen] = 2,
) -> Library:
    """The functions `exports` of a module in LLVM text, compiled or from the cache, ready to be
    called.

    `optimize` is the level of LLVM's own passes over the text (0: none, right for text without
    common subexpressions, as all of ours: the passes take ten times as long as the code generator
    and make loops of integrators no faster), `codegen` that of instruction selection and
    scheduling, or a function of what `identity` determines, called only to compile. Writing the
    text takes time: give a function that writes it, which is called only if the cache has nothing
    under the `identity` that determines the text; by default that is the
    function itself. The functions of the C mathematics library can be declared and called.
    """
    if identity is None:
        identity = ir_text.encode() if isinstance(ir_text, str) else _generator_key(ir_text)
    cache, key = ObjectCache.from_environment(), _key(identity, optimize, codegen)
    with _llvm_lock():
        image = cache.read(key)
    if image is not None:
        imports = _imported_symbols(image)
        # an object this linker refuses is compiled again
        with _llvm_lock(), suppress(RuntimeError):
            return _link(image, exports, imports)
    text = ir_text if isinstance(ir_text, str) else ir_text()
    with _llvm_lock():
        level = codegen() if callable(codegen) else codegen
        image = _compile_object(_target_machine(level), text, optimize)
        cache.write(key, image)
    imports = _imported_symbols(image)
    with _llvm_lock():
        return _link(image, exports, imports)


class TextFunction:
    """A function that writes text, by its name: its module is imported if nothing is cached."""

    def __init__(self, name: str) -> None:
        self.__module__, _, self.__qualname__ = name.partition(":")

    def __call__(self) -> str:
        text: str = getattr(importlib.import_module(self.__module__), self.__qualname__)()
        return text


def _imported_symbols(image: bytes) -> dict[str, int]:
    """The addresses of what an object reads recorded data with; nothing for most."""
    if b"table_" not in image:
        return {}
    from dalembert.runtime.numerics.table_functions import imported_symbols

    return imported_symbols(image)


def source_hashes(*chapters: str) -> bytes:
    """Hashes of the modules of some chapters: code whose text another version wrote is not
    found.
    """
    return b"".join(map(_source_hash, chapters))


@functools.cache
def _source_hash(chapter: str) -> bytes:
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    root = os.path.join(package, chapter)
    if not os.path.isdir(root):
        raise FileNotFoundError(root)
    paths: list[str] = []
    for folder, below, files in os.walk(root):
        below.sort()
        paths += [os.path.join(folder, name) for name in sorted(files) if name.endswith(".py")]
    # where only bytecode is installed versions cannot be distinguished: cached code is never reused
    if not paths:
        return os.urandom(32)
    return _hash_of_files(paths)


def _hash_of_files(paths: list[str]) -> bytes:
    """The hash of what is in files: from the cache, if none was written since it was computed."""
    states = [os.stat(path) for path in paths]
    stamps = [(s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states]
    cache = ObjectCache.from_environment()
    key = "sources-" + new_digest(repr((paths, stamps)).encode()).hexdigest()
    if (known := cache.read(key)) is not None:
        return known
    running = new_digest()
    for path in paths:
        with open(path, "rb") as file:
            running.update(file.read())
    # a file that is being edited may change again within the resolution of its times
    if max(max(s.st_mtime, s.st_ctime) for s in states) < time.time() - _RESOLUTION:
        cache.write(key, running.digest())
    return running.digest()


def _generator_key(text: Callable[[], str]) -> bytes:
    """What determines the text that a function without arguments writes: where it stands, and
    the modules of the chapters it may use.
    """
    chapter = "/".join(text.__module__.split(".")[1:3])
    return (
        source_hashes(*sorted({*_CODEGEN_CHAPTERS, chapter}))
        + f"{text.__module__}.{text.__qualname__}".encode()
    )


_names = itertools.count()
_linker: list[Any] = []

# a child never inherits a compilation half done
reacquire_after_fork(_lock)


@contextmanager
def _llvm_lock() -> Iterator[None]:
    """The only thread inside LLVM; on leaving, code retired meanwhile is unloaded."""
    with _lock:
        yield
        _pending_unload.clear()


@functools.cache
def _llvm() -> ModuleType:
    try:
        llvm = importlib.import_module("llvmlite.binding")
    except ImportError as error:
        msg = (
            "native code needs the package llvmlite: install it with pip (there is no current "
            "version for Intel Macs)"
        )
        raise CannotCompile(msg) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@dataclass(frozen=True)
class Target:
    """A processor by LLVM's names; `lanes` states are computed at a time, `fused` says whether a b
    + c is rounded once.

    Without fused operations the text contains none. Structures have fields of
    eight bytes on every target, pointers too, so that one layout serves all.
    """

    triple: str
    lanes: int = 1
    fused: bool = True
    cpu: str = ""
    features: str = ""
    # the calling convention, where a processor has several
    abi: str = ""

    def with_lanes(self, lanes: int) -> Target:
        """The same processor with the given number of states at a time."""
        return replace(self, lanes=lanes)

    @property
    def identity(self) -> bytes:
        """What distinguishes the text for this target."""
        return f"{self.triple} {self.lanes} {self.fused}".encode()

    def object_code(self, text: str, *, optimize: Level = 1) -> bytes:
        """A module in LLVM text as an object file for this target, which may be any processor
        that LLVM knows.
        """
        with _llvm_lock():
            llvm = _llvm()
            # whatever this process compiled before
            llvm.set_option("dalembert", "-fast-isel=false")
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            try:
                machine = llvm.Target.from_triple(self.triple).create_target_machine(
                    cpu=self.cpu,
                    features=self.features,
                    opt=2,
                    reloc="pic",
                    codemodel="default",
                    abiname=self.abi,
                )
            except RuntimeError as error:
                msg = (
                    f"this LLVM cannot write code for {self.triple}: {error}; give a name such "
                    f"as aarch64-linux-gnu or riscv64-linux-gnu"
                )
                raise CannotCompile(msg) from error
            return _compile_object(
                machine,
                f'target triple = "{self.triple}"\ntarget datalayout = '
                f'"{machine.target_data}"\n{text}',
                optimize,
            )


# simd128 is in every browser since 2021; there is no fused multiply-add
WASM32: Final = Target(
    "wasm32-unknown-unknown",
    fused=False,
    cpu="generic",
    features="+simd128,+bulk-memory,+nontrapping-fptoint",
)


@cached_call
def _toolchain() -> tuple[str, str, str, str]:
    """The version of LLVM, and this processor's triple, name and features by LLVM's names; from
    the cache if this LLVM has described the same processor before, so that it is not loaded.
    """
    known = _processor()
    cache, key = ObjectCache.from_environment(), new_digest(known).hexdigest()
    with _llvm_lock():
        kept = cache.read(key) if known else None
        if kept is not None:
            version, triple, cpu, features = kept.decode().split("\0")
            return version, triple, cpu, features
        llvm = _llvm()
        described = (
            " ".join(map(str, llvm.llvm_version_info)),
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
        )
        if known:
            cache.write(key, "\0".join(described).encode())
    return described


def _processor() -> bytes:
    """The processor's model and features as Linux names them, with the llvmlite that is installed;
    empty if unknown.
    """
    try:
        with open(_MODEL, "rb") as file:
            model = file.read()
        llvmlite = importlib.import_module("llvmlite")
    except (OSError, ImportError):
        return b""
    return f"{_FORMAT} {llvmlite.__version__} {llvmlite.__file__} ".encode() + model


@cached_call
def _host() -> Target:
    _, triple, cpu, features = _toolchain()
    fused = platform.machine().lower() in {"arm64", "aarch64"} or _has_features("fma")
    return Target(triple, 1, fused, cpu, features)


def _has_features(*names: str) -> bool:
    """Whether the processor has all of these, by LLVM's names."""
    return {f"+{name}" for name in names} <= {*_toolchain()[-1].split(",")}


def host(lanes: int = 1) -> Target:
    """The processor this runs on."""
    return _host() if lanes == 1 else _host().with_lanes(lanes)


def simd_width() -> int:
    """How many numbers a register of the processor holds."""
    if not host().fused:
        return 2
    return 8 if _has_features("avx512f", "avx512dq") else 4 if _has_features("avx2") else 2


@functools.cache
def _create_target_machine(codegen: Level) -> Any:
    here = host()
    # small code reaches its constants without loading their addresses first; the linker keeps both
    # together
    model = {"codemodel": "small", "reloc": "pic"} if _SMALL_CODE else {}
    target = _llvm().Target.from_triple(here.triple)
    return target.create_target_machine(
        cpu=here.cpu, features=here.features, opt=codegen, jit=True, **model
    )


def _target_machine(codegen: Codegen) -> Any:
    """What writes the code of one module; the instruction selection is an option of all LLVM."""
    # given explicitly, it holds at every level
    _llvm().set_option("dalembert", f"-fast-isel={str(codegen == 0).lower()}")
    return _create_target_machine(0 if codegen == "unscheduled" else codegen)


@functools.cache
def toolchain_fingerprint() -> bytes:
    """Everything but the text and the levels that decides what the object code is; text reads
    objects of Python where their fields are.
    """
    version = importlib.import_module("llvmlite").__version__
    return "\0".join((f"{_FORMAT} {object.__basicsize__}", version, *_toolchain())).encode()


def _key(identity: bytes, optimize: Level, codegen: Codegen | Callable[[], Codegen]) -> str:
    digest = new_digest(toolchain_fingerprint())
    level = "by size" if callable(codegen) else codegen
    digest.update(f"\0{optimize}\0{level}\0".encode())
    digest.update(identity)
    return digest.hexdigest()


def _compile_object(machine: Any, ir_text: str, optimize: Level) -> bytes:
    """The module as an object file for a machine."""
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(ir_text)
        module.verify()
    except RuntimeError as error:
        msg = f"internal error, please report it: this is not valid LLVM text: {error}"
        raise CannotCompile(msg) from error
    if optimize:
        # llvmlite never frees the passes, some 60 kB each time: nothing for code compiled once per
        # process
        builder = llvm.create_pass_builder(
            machine, llvm.create_pipeline_tuning_options(speed_level=optimize)
        )
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)  # type: ignore[no-any-return]


def _link(image: bytes, exports: tuple[str, ...], imports: dict[str, int]) -> Library:
    if object_loader.IS_AVAILABLE:
        # LLVM's own linker takes what the loader does not know
        with contextlib.suppress(object_loader.CannotLink):
            return Library(object_loader.LoadedObject(image, imports), exports)
    llvm, number = _llvm(), next(_names)
    if not _linker or number % _LIBRARIES_PER_LINKER == 0:
        _linker[:] = [llvm.create_lljit_compiler(_target_machine(2), use_jit_link=_SMALL_CODE)]
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in exports:
        builder.export_symbol(name)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    return Library(builder.link(_linker[0], f"library{number}"), exports)


def merge_modules(parts: Iterable[tuple[str, str]]) -> str:
    """One module of (prefix, text): a function f of a part with the prefix a becomes a.f; without a
    prefix it keeps its name.

    What all parts bring along is written once.
    """
    definitions: dict[str, str] = {}
    for prefix, text in parts:
        for name, item in _definitions(_add_prefix(prefix, text) if prefix else text):
            if definitions.setdefault(name, item) != item and not item.startswith("declare"):
                msg = f"internal error, please report it: two modules define {name} differently"
                raise CannotCompile(msg)
    return "\n".join(definitions.values()) + "\n"


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    """The functions, declarations and constants of a module by name."""
    lines: list[str] = []
    for line in text.splitlines():
        if not lines and not line.startswith(("define", "declare", "@")):
            continue
        lines.append(line)
        if not lines[0].startswith("define") or line == "}":
            match = _GLOBAL_NAME.search(lines[0])
            assert match is not None
            yield match[1], "\n".join(lines)
            lines = []


def _add_prefix(prefix: str, text: str) -> str:
    own = {name for name, item in _definitions(text) if not item.startswith("declare")}
    return _GLOBAL_NAME.sub(
        lambda match: f"@{prefix}.{match[1]}" if match[1] in own else match[0], text
    )
