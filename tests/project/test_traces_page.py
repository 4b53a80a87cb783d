"""docs/traces.md names the fields of a header."""

import re
from pathlib import Path

from decodescope.traces.header import FORMAT, Header, LlamaBuild, Machine
from decodescope.traces.memory import MemoryMeasured
from decodescope.traces.reader import MOST_EVENTS

PAGE = (Path(__file__).parents[2] / "docs" / "traces.md").read_text(encoding="utf-8")
FIELDS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, flags=re.MULTILINE))


def test_the_fields_of_the_header() -> None:
    assert list(FIELDS) == list(Header.__struct_fields__)
    assert re.findall(r"`(\w+)`", FIELDS["machine"]) == list(Machine.__struct_fields__)
    assert set(LlamaBuild.__struct_fields__) <= set(re.findall(r"`(\w+)`", FIELDS["llama_cpp"]))


def test_the_fields_of_what_was_measured_of_the_machine() -> None:
    (section,) = re.findall(r"^### `memory`\n(.*?)^#", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert set(MemoryMeasured.__struct_fields__) <= set(re.findall(r"`(\w+)`", section))


def test_the_numbers() -> None:
    assert FIELDS["format"].endswith(f": {FORMAT}")
    assert f"{MOST_EVENTS:,} events" in PAGE
