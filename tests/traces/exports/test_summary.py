"""The summary."""

import json
from pathlib import Path

import pytest

from decodescope.traces.errors import TraceError
from decodescope.traces.exports.subject import export_of
from decodescope.traces.exports.summary import as_json
from decodescope.traces.reader import Trace

from .recorded import exported, quiet_then_disturbed


def test_one_is_an_object_and_several_are_an_array(tmp_path: Path) -> None:
    assert json.loads(as_json(exported(tmp_path, quiet_then_disturbed())))["generation"] == 1
    both = json.loads(as_json(exported(tmp_path / "b")))
    assert [one["generation"] for one in both] == [1, 2]
    assert both[1]["error"]["what"].startswith("It failed.")
    assert both[1]["text"] == "no"


@pytest.fixture(autouse=True)
def another_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()


def test_a_session_may_change_its_settings(tmp_path: Path) -> None:
    """The request's own are those that count."""
    one = json.loads(as_json(exported(tmp_path, quiet_then_disturbed())))
    assert one["settings"]["temp"] == 0.8
    assert one["settings"]["model"] == "demo"
    assert one["settings"]["seed"] == 42


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="There is no answer"):
        export_of(Trace(None, (), ()))
    with pytest.raises(TraceError, match="There is no generation 3: the recording has 2 generations"):
        exported(tmp_path, number=3)
