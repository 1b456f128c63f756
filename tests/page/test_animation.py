import shutil

import pytest

import dalembert as da
from dalembert.errors import MissingPackage, Unwritable
from dalembert.interface.page import image_export
from dalembert.interface.page.run_viewer import Animation


@pytest.fixture(scope="module")
def run():
    s = da.System("Double pendulum <b>", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    return da.simulate(s, 0.3, start={"alpha": 1.0}, progress=False)


def test_a_run_is_saved_as_a_page_named_after_its_system(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = run.animate()
    assert "saved double-pendulum-b.html\n" == capsys.readouterr().out
    assert (tmp_path / "double-pendulum-b.html").read_text(encoding="utf-8") == made.html
    assert "Double pendulum &lt;b&gt;" in made.html
    assert 'id="player"' in made.html


def test_a_notebook_shows_it_in_a_frame(run):
    shown = Animation(run)._repr_html_()
    assert shown.startswith('<iframe data-fit="yes" srcdoc="&lt;!DOCTYPE html&gt;')
    assert "<script" not in shown


def test_pictures_are_what_their_ending_says(run, tmp_path):
    from PIL import Image

    with Image.open(run.animate(tmp_path / "start.png").path) as still:
        assert ("PNG", (image_export.WIDTH, image_export.HEIGHT)) == (still.format, still.size)
        # something is drawn on the paper
        assert len(still.getcolors(1 << 20)) > 20
    with Image.open(run.animate(tmp_path / "swing.gif").path) as moving:
        assert "GIF" == moving.format
        assert 6 == moving.n_frames
        assert 50 == moving.info["duration"]


def test_what_cannot_be_had_is_said(run, tmp_path, monkeypatch):
    with pytest.raises(
        Unwritable,
        match=r"swing\.avi: the ending decides on the format; give one of \.html, \.png, \.gif, "
        r"\.mp4",
    ):
        run.animate(tmp_path / "swing.avi")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingPackage, match="ffmpeg, which is not installed here"):
        run.animate(tmp_path / "swing.mp4")
    with pytest.raises(Unwritable, match="nowhere"):
        run.animate(tmp_path / "nowhere" / "swing.gif")
