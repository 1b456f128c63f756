"""Files of one folder, whole or not at all."""

from __future__ import annotations

import pytest

from dalembert.errors import DalembertError
from dalembert.interface.studio.folder import ChangedOnDisk, Folder

OUTSIDE = [
    "../other.toml",
    "/etc/passwd",
    "/etc/x.toml",
    "a/../../x.toml",
    "",
    "x.py",
    "x.toml\0.toml",
    "x",
    "link/x.toml",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_is_opened_or_written(tmp_path, name):
    (tmp_path / "in").mkdir()
    (tmp_path / "other.toml").write_text("secret")
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    folder = Folder(tmp_path / "in")
    with pytest.raises(DalembertError):
        folder.read(name)
    with pytest.raises(DalembertError):
        folder.save(name, "text", "*")
    assert {"in", "other.toml"} == {p.name for p in tmp_path.iterdir()}
    assert "secret" == (tmp_path / "other.toml").read_text()


def test_a_file_that_changed_is_not_overwritten(tmp_path):
    folder = Folder(tmp_path)
    saved = folder.save("a.toml", "one", "")
    (tmp_path / "a.toml").write_text("of somebody else")
    with pytest.raises(ChangedOnDisk, match="changed on disk"):
        folder.save("a.toml", "two", saved.stamp)
    assert "of somebody else" == (tmp_path / "a.toml").read_text()
    assert "two" == folder.save("a.toml", "two", "*").text


def test_a_file_that_is_there_is_not_taken_for_a_new_one(tmp_path):
    (tmp_path / "a.toml").write_text("mine")
    with pytest.raises(ChangedOnDisk):
        Folder(tmp_path).save("a.toml", "new", "")


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.toml").write_bytes(b"#" * 2_000_000)
    folder = Folder(tmp_path)
    with pytest.raises(DalembertError, match="UTF-8"):
        folder.read("a.toml")
    with pytest.raises(DalembertError, match="larger"):
        folder.read("b.toml")
    with pytest.raises(DalembertError, match="cannot be read"):
        folder.read("c.toml")
    assert ["a.toml", "b.toml"] == folder.names()
