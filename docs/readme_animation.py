"""Write docs/pictures/rolling-disk.gif, the animation at the top of the README."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image, ImageSequence

import dalembert as da
from dalembert import gallery

PICTURE = Path(__file__).parent / "pictures" / "rolling-disk.gif"
DURATION, STRIDE, COLOURS, SIZE = 8, 2, 16, (480, 300)


def write(path: Path = PICTURE) -> None:
    """The gallery's rolling disk as a small GIF: every second frame, 16 colours, 480 × 300
    pixels.
    """
    entry = gallery.entry("rolling-disk")
    run = da.simulate(entry.build(), DURATION, start=entry.start, inputs=entry.inputs)
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.gif"
        da.animate(run, large)
        with Image.open(large) as film:
            pause = int(film.info["duration"]) * STRIDE
            frames = [
                frame.convert_and_call("RGB").resize(SIZE, Image.Resampling.LANCZOS)
                for frame in ImageSequence.Iterator(film)
            ]
    palette = _montage(frames[:: len(frames) // 8]).quantize(COLOURS)
    small = [
        frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames[::STRIDE]
    ]
    small[0].save(
        path,
        save_all=True,
        append_images=small[1:],
        duration=pause,
        loop=0,
        optimize=True,
        disposal=1,
    )


def _montage(frames: list[Image.Image]) -> Image.Image:
    """Frames one below the other: a palette for all of them."""
    width, height = SIZE
    sheet = Image.new("RGB", (width, height * len(frames)))
    for row, frame in enumerate(frames):
        sheet.paste(frame, (0, row * height))
    return sheet


if __name__ == "__main__":
    write()
