"""docs/comparison.md has every field of what ``compare`` prints, and no other."""

import json
import re
from pathlib import Path

import pytest

from decodescope.comparison.export import as_json
from decodescope.comparison.results import results

from ..comparison.lanes import a_lane
from ..conftest import RunCommand, ScriptWriter

PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")


def described(title: str) -> set[str]:
    """The fields in the table below a heading."""
    section = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert section is not None, f"there is no section {title}"
    return set(re.findall(r"^\| `(\w+)` \|", section[1], flags=re.MULTILINE))


def test_every_field_is_described(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"prefill": 20, "ms": 2}, {"repeat": 12, "text": "x", "ms": 2})
    words = ("compare", "hi", "-m", f"script:{path}", "-m", f"script:{path}", "--rounds", "2", "--json")
    report = json.loads(decodescope(*words).stdout)
    common = as_json(results([a_lane(0, "a", 10, 10), a_lane(1, "b", 9, 9)], together=False))
    assert set(report) - set(common) == described("`--json`: one object")
    assert set(report["lanes"][1]) - set(common["lanes"][1]) == described("each of `lanes`")


@pytest.mark.parametrize("field", ["name", "file", "architecture", "parameters", "context", "threads", "devices"])
def test_the_model_is_described(field: str) -> None:
    assert re.search(rf"^\| `model` \|.*`{field}`", PAGE, re.MULTILINE)
