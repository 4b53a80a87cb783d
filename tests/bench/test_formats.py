"""Rows as they are printed."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace as changed

from decodescope.backends.requests import EngineSettings
from decodescope.bench.fields import flat, record
from decodescope.bench.figures import Row
from decodescope.bench.formats import Form, Printer
from decodescope.bench.plan import Trial
from decodescope.traces.csv_text import as_cell

from ..spreadsheets import changed as altered
from .rows import BUILD, MODEL, WITH, a_group, a_plan, a_row, measured

PAGE = (Path(__file__).parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
LLAMA_BENCH = [
    "build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model_size",
    "model_n_params", "n_batch", "n_ubatch", "n_threads", "cpu_mask", "cpu_strict", "poll", "type_k", "type_v",
    "n_gpu_layers", "n_cpu_moe", "split_mode", "main_gpu", "no_kv_offload", "flash_attn", "devices", "tensor_split",
    "tensor_buft_overrides", "load_mode", "lazy_mode", "embeddings", "no_op_offload", "no_host", "repack", "fit_target",
    "fit_min_ctx", "n_prompt", "n_gen", "n_depth", "test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts",
]  # fmt: skip

READ = a_row(Trial(prompt=512), measured(prompt=400), measured(prompt=410))
WRITE = a_row(Trial(generate=10, depth=4096), measured([6] * 10), measured([7] * 10))


def printed(form: Form, *rows: Row, width: int | None = None) -> str:
    printer = Printer(form, a_plan(*rows), BUILD, width)
    return "".join(printer.row(row) for row in rows) + printer.end()


def test_the_names_of_llama_bench_come_first_and_in_its_order() -> None:
    assert list(record(READ, BUILD))[: len(LLAMA_BENCH)] == LLAMA_BENCH
    assert {"samples_ns", "samples_ts"} <= set(record(READ, BUILD))


def test_a_record() -> None:
    found = record(READ, BUILD)
    assert (found["build_commit"], found["build_number"], found["cpu_info"]) == ("0c1e570", 1, "a processor")
    assert (found["n_prompt"], found["n_gen"], found["n_depth"], found["n_threads"]) == (512, 0, 0, 2)
    assert found["samples_ns"] == [400_000_000, 410_000_000]
    assert found["samples_ts"] == [1280.0, pytest.approx(1248.780488)]
    assert found["avg_ns"] == 405_000_000
    assert found["stddev_ns"] == 7_071_068
    assert found["ttft_ms"] == 405.0
    assert found["itl_ms"] is None
    assert found["test_time"] == "1970-01-01T00:00:00Z"
    assert [one["ttft_ms"] for one in found["repetitions"]] == [400.0, 410.0]
    assert record(WRITE, BUILD)["itl_ms"] == {"p50": 6.5, "p95": 7.0, "p99": 7.0, "max": 7.0}


def test_json_is_an_array_whatever_there_is() -> None:
    assert json.loads(printed(Form.JSON, READ, WRITE)) == [record(READ, BUILD), record(WRITE, BUILD)]
    assert json.loads(printed(Form.JSON)) == []


def test_json_lines() -> None:
    lines = printed(Form.JSONL, READ, WRITE).splitlines()
    assert [json.loads(line) for line in lines] == [record(READ, BUILD), record(WRITE, BUILD)]


def test_csv() -> None:
    read, write = csv.DictReader(io.StringIO(printed(Form.CSV, READ, WRITE)))
    assert read == {name: as_cell(value) for name, value in flat(record(READ, BUILD)).items()}
    assert (read["no_kv_offload"], read["sample"], read["itl_ms_p50"], read["quiet"]) == ("0", "0", "", "")
    assert (write["itl_ms_p50"], write["avg_ts"]) == ("6.5", "154.761905")


def test_no_cell_is_changed_by_a_spreadsheet() -> None:
    texts = {name for name, value in record(READ, BUILD).items() if isinstance(value, str)} - {"tensor_split"}
    hostile = msgspec.structs.replace(BUILD, commit="3e31415")
    row = replace(READ, model=msgspec.structs.replace(READ.model, file="=1+1"))
    printer = Printer(Form.CSV, a_plan(row), hostile)
    table = printer.row(row) + printer.row(WRITE)
    assert altered(table, texts) == []
    first = next(csv.DictReader(io.StringIO(table)))
    assert (first["build_commit"], first["model_filename"]) == ("'3e31415", "'=1+1")


def test_markdown() -> None:
    heading, rule, read, write, _, build, *rest = printed(Form.MD, READ, WRITE).splitlines()
    assert heading.startswith("| model  ")
    assert len({len(line) for line in (heading, rule, read, write)}) == 1
    assert "|           pp512 |      1264.39 ± 22.08 |       405 |" in read  # 1,280 and 1,248.78 per second
    assert "|    tg10 @ d4096 |" in write
    assert "|  92.10 MiB |   134.52 M | CPU        |       2 |" in read
    assert build == "build: 0c1e570 (1)"
    assert rest == ["", "The machine was quiet: no repetition lost more than 5 % of its time to disturbances."]


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (170, []),
        (140, ["params", "backend"]),
        (130, ["size", "params", "backend"]),
        (120, ["size", "params", "backend", "threads"]),
        (80, ["size", "params", "backend", "threads", "TTFT ms", "ITL p95 ms", "ITL p99 ms"]),
    ],
)
def test_markdown_fits_into_a_terminal(width: int, left_out: list[str]) -> None:
    named = replace(WRITE, ran_with=changed(WITH, model="a family with a very long name 30B Q4_K_M"))
    text = printed(Form.MD, READ, named, width=width)
    heading, rule, read, write, *rest = text.splitlines()
    headings = [cell.strip() for cell in heading.strip("|").split("|")]
    assert len({len(line) for line in (heading, rule, read, write)}) == 1
    assert len(heading) <= width
    assert not set(headings) & set(left_out)
    assert {"model", "test", "t/s", "ITL p50 ms", "disturbed"} <= set(headings)
    assert "1264.39 ± 22.08" in read
    assert "…" in write
    told = [line for line in rest if line.startswith("No room for: ")]
    assert told == ([f"No room for: {', '.join(left_out)}."] if left_out else [])
    assert printed(Form.CSV, READ, width=width) == printed(Form.CSV, READ)


def test_threads_stay_where_they_are_what_differs() -> None:
    rows = [replace(READ, group=a_group(READ.trial, settings=EngineSettings(threads=threads))) for threads in (1, 2)]
    assert "threads" in printed(Form.MD, *rows, width=80).splitlines()[0]


def test_columns_of_what_is_not_the_default() -> None:
    settings = EngineSettings(batch=64, cache_type_k="q8_0", flash_attention="on")
    trial = Trial(prompt=512, sample=True)
    row = replace(READ, trial=trial, group=a_group(trial, settings=settings))
    heading = printed(Form.MD, row).splitlines()[0]
    assert [cell.strip() for cell in heading.split("|")][6:11] == ["n_batch", "type_k", "fa", "sample", "test"]


def test_names_are_no_markup_and_command_no_terminal() -> None:
    row = replace(READ, ran_with=changed(WITH, model="a|b\x1b[2J"), model=changed(MODEL, file="/m/\udcff\x1b.gguf"))
    text = printed(Form.MD, row)
    assert "a\\|b␛\\[2J" in text
    assert "\x1b" not in printed(Form.JSON, row) + text
    printed(Form.JSONL, row).encode()


def test_the_page_names_every_field_that_llama_bench_lacks() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    own = [name for name in record(READ, BUILD) if name not in (*LLAMA_BENCH, "samples_ns", "samples_ts")]
    assert named == own + list(record(READ, BUILD)["repetitions"][0])
