import os

import pytest


@pytest.fixture(scope="session")
def snapshot_tempdir() -> str | None:
    """Where the snapshot plugin keeps its pictures; read before any test's environment is cleared."""
    return os.environ.get("TEXTUAL_SNAPSHOT_TEMPDIR")
