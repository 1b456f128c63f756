import pytest


@pytest.fixture(autouse=True, scope="session")
def objects_apart(tmp_path_factory):
    """Tests keep their compiled code to themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DALEMBERT_CACHE", str(tmp_path_factory.mktemp("objects") / "cache"))
        yield
