"""docs/comparison.md has every field of what ``compare`` prints, and no other."""

import json
import re
from pathlib import Path

import pytest

from ..conftest import RunCommand, ScriptWriter

PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")


def described(title: str) -> set[str]:
    """The fields in the table below a heading."""
    section = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert section is not None, f"there is no section {title}"
    return set(re.findall(r"^\| `(\w+)` \|", section[1], flags=re.MULTILINE))


def test_every_field_is_described(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    path = script({"prefill": 20, "ms": 2}, {"repeat": 12, "text": "x", "ms": 2})
    words = ("compare", "hi", "-m", f"script:{path}", "-m", f"script:{path}", "--rounds", "2")
    report = json.loads(decodescope(*words, "--json").stdout)
    lane = report["lanes"][1]
    assert set(report) == described("`--json`: one object")
    assert set(lane) == described("`lanes`")
    assert set(lane["decode_rate"]) == described("a spread")
    assert set(lane["decode_ratio"]) == described("a ratio")
    assert set(lane["all_rounds"][0]) == described("`all_rounds`")
    columns = decodescope(*words, "--csv").stdout.decode().splitlines()[0].split(",")
    groups = {"spread": described("a spread"), "ratio": described("a ratio"), "estimate": described("an estimate")}
    expected = set()
    for name, text in re.findall(
        r"^\| `(\w+)` \| (.*) \|$", PAGE.split("### `lanes`")[1].split("###")[0], re.MULTILINE
    ):
        kind = re.search(r"\ba (spread|ratio)|an (estimate)|the same of `(\w+_rate)`", text)
        if "(JSON)" in text:
            continue
        if kind is None:
            expected.add(name)
        else:
            fields = groups[kind[1] or kind[2] or "ratio"]
            expected |= {f"{name}_{field}" for field in fields}
    assert set(columns) == expected


@pytest.mark.parametrize("field", ["name", "file", "architecture", "parameters", "context", "threads", "devices"])
def test_the_model_is_described(field: str) -> None:
    assert re.search(rf"^\| `model` \|.*`{field}`", PAGE, re.MULTILINE)
