"""Pictures and animations as files: PNG and GIF by Pillow, MP4 by ffmpeg where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import MissingPackage, Unwritable
from dalembert.foundation.atomic_write import atomic_replace, check_extension
from dalembert.interface.page.scene import Scene, build_scene
from dalembert.interface.page.svg_drawing import Face, draw_scene

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

WIDTH, HEIGHT = 640, 400
# drawn larger and brought down, so that edges are smooth
_SUPERSAMPLING: Final = 2
_MOST_FRAMES: Final = {".gif": 240, ".mp4": 1800}
_RATE: Final = {".gif": 20, ".mp4": 30}
# points of a trace between two frames
_TRACE_POINTS: Final = 4
KINDS: Final = (".png", ".gif", ".mp4")
PAGES: Final = (".html", ".htm")


def save_image(run: Trajectory, path: str | os.PathLike[str]) -> Path:
    """The run as the ending of the name asks for: .png the start, .gif and .mp4 the motion at
    its own speed.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        check_extension(path, (*PAGES[:1], *KINDS))
    _check_format(kind)
    with atomic_replace(path) as part:
        if kind == ".png":
            _start(run).save(part, format="PNG")
        elif kind == ".gif":
            _gif(run, part)
        else:
            _mp4(run, part)
    return target


def _start(run: Trajectory) -> Any:
    return next(
        _images(
            build_scene(run.at(run.t[:1]), arrows=False)
            if len(run) < 2
            else _sampled_scene(run, 60),
            1,
        )
    )


def _check_format(kind: str) -> None:
    try:
        import PIL.ImageDraw  # noqa: F401
    except ImportError:
        msg = "pictures need the package pillow: pip install pillow"
        raise MissingPackage(msg) from None
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        how = "on Debian and Ubuntu: apt-get install ffmpeg"
        msg = (
            f"an .mp4 needs the program ffmpeg, which is not installed here ({how}); a .gif "
            f"needs nothing more"
        )
        raise MissingPackage(msg)


def _sampled_scene(run: Trajectory, frames: int) -> Scene:
    times = np.linspace(float(run.t[0]), float(run.t[-1]), max(2, frames))
    return build_scene(run.at(times) if run.solution.has_full_dense_output else run, arrows=False)


def _count(run: Trajectory, kind: str) -> int:
    return int(min(_MOST_FRAMES[kind], max(2, round(float(run.t[-1] - run.t[0]) * _RATE[kind]))))


def _clock(run: Trajectory) -> str:
    """t with its unit, with three digits for runs of less than a second."""
    digits = 3 if float(run.t[-1] - run.t[0]) < 1 else 2
    return f"t = {{:.{digits}f}}{' s' if run.system.has_units else ''}"


def _fine_scene(run: Trajectory, count: int) -> Scene:
    """Several times as many places as frames, so that traces have no corners."""
    return _sampled_scene(run, _TRACE_POINTS * (count - 1) + 1)


def _gif(run: Trajectory, target: Path) -> None:
    count = _count(run, ".gif")
    first, *rest = _images(_fine_scene(run, count), count, _clock(run))
    pause = max(20, round(1000 * float(run.t[-1] - run.t[0]) / count / 10) * 10)
    first.save(
        target,
        format="GIF",
        save_all=True,
        append_images=rest,
        duration=pause,
        loop=0,
        optimize=True,
    )


def _mp4(run: Trajectory, target: Path) -> None:
    count = _count(run, ".mp4")
    rate = count / max(float(run.t[-1] - run.t[0]), 1e-9)
    program = shutil.which("ffmpeg")
    assert program is not None
    size = f"{WIDTH}x{HEIGHT}"
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{rate:.6f}", "-i", "-"]
    wanted = [
        "-an",
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-movflags",
        "+faststart",
        str(target.resolve()),
    ]
    command = [program, "-y", "-loglevel", "error", *given, *wanted]
    frames = b"".join(
        image.tobytes() for image in _images(_fine_scene(run, count), count, _clock(run))
    )
    # no shell, our own arguments
    done = subprocess.run(command, input=frames, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        msg = (
            f"ffmpeg could not write the film: "
            f"{done.stderr.decode(errors='replace').strip()[-300:]}"
        )
        raise Unwritable(msg)


def _images(drawn: Scene, count: int, clock: str = "") -> Iterator[Any]:
    """`count` frames at even places of the scene; `clock` is the format of the time, if shown."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(13 * _SUPERSAMPLING)
    last = len(drawn.t) - 1
    for k in (round(i * last / max(1, count - 1)) for i in range(min(count, last + 1))):
        image = Image.new("RGB", (_SUPERSAMPLING * WIDTH, _SUPERSAMPLING * HEIGHT), "#f7f9fb")
        pen = ImageDraw.Draw(image, "RGBA")
        for face in draw_scene(drawn, k, WIDTH, HEIGHT, trace=True).faces:
            _paint(pen, face)
        if clock:
            place = (12 * _SUPERSAMPLING, (HEIGHT - 26) * _SUPERSAMPLING)
            pen.text(place, clock.format(float(drawn.t[k])), fill="#5d6776", font=font)
        yield image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _paint(pen: Any, face: Face) -> None:
    points = [
        (float(x), float(y))
        for x, y in _SUPERSAMPLING * np.clip(face.points, -4 * WIDTH, 4 * WIDTH)
    ]
    colour = (
        *(int((face.fill or face.stroke or "#000000")[i : i + 2], 16) for i in (1, 3, 5)),
        round(255 * face.alpha),
    )
    if face.fill is not None:
        pen.polygon(points, fill=colour)
    elif len(points) > 1:
        pen.line(
            points, fill=colour, width=max(1, round(_SUPERSAMPLING * face.width)), joint="curve"
        )
