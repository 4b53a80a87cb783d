"""Reading: whatever is whole in a file is given back, what is not is named, and nothing in a file ends the program."""

import gzip
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Finished, Token
from decodescope.traces import reader
from decodescope.traces.errors import TraceError
from decodescope.traces.generations import generations
from decodescope.traces.reader import Trace, read_trace
from decodescope.traces.writer import encode_header, encoded
from decodescope.traces.zstd import ZstdCompressor

from ..tui.fakes import MS, answer, finished, ready, taken, token
from .samples import HEADER, session, written

FORMS = ("plain.jsonl", "packed.jsonl.gz", "packed.jsonl.zst")
LINES = encode_header(HEADER) + encoded(session(), text=True)


def read(tmp_path: Path, data: bytes) -> Trace:
    path = tmp_path / "some.jsonl"
    path.write_bytes(data)
    return read_trace(path)


@pytest.mark.parametrize("name", FORMS)
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    trace = read_trace(written(tmp_path / name))
    assert trace == Trace(HEADER, tuple(session()), ())


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name).rename(tmp_path / "other.txt")
    assert len(read_trace(path).events) == len(session())


def attempt(path: Path) -> Trace | TraceError:
    try:
        return read_trace(path)
    except TraceError as error:
        return error


@pytest.mark.parametrize("name", FORMS)
def test_cut_anywhere(tmp_path: Path, name: str) -> None:
    """Everything before the cut is there, and it is said, unless the cut is where the file could have ended."""
    whole = written(tmp_path / name).read_bytes()
    cut = tmp_path / f"cut-{name}"
    events = tuple(session())
    lengths: list[int] = []
    for size in range(len(whole)):
        cut.write_bytes(whole[:size])
        trace = attempt(cut)
        if isinstance(trace, TraceError):
            assert lengths == [], size
            assert any(words in trace.what for words in ("is empty", "cut off", "not a recording")), size
            continue
        lengths.append(len(trace.events))
        assert trace.events == events[: len(trace.events)]
        assert trace.header == HEADER
        assert trace.notes or (name == FORMS[0] and whole[size - 1 : size] == b"\n"), size
    assert lengths == sorted(lengths)
    # At most the event whose bytes end the file is missing.
    assert lengths[-1] >= len(events) - 1
    assert set(lengths) >= set(range(len(events)))


def test_a_last_line_that_only_lacks_its_newline_is_whole(tmp_path: Path) -> None:
    trace = read(tmp_path, LINES[:-1])
    assert trace.events == tuple(session())
    assert "cut off" in trace.notes[0]


def test_an_answer_without_an_end_is_told(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "a.jsonl", [ready(), *answer([b"a"])]))
    assert trace.notes == ("It ends in the middle of an answer.",)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (b"not json", "Line 3 is no event."),
        (b"[1, 2]", "Line 3 is no event."),
        (b'{"t": 1}', "Line 3 is of an unknown kind, ''."),
        (b'{"event": 7}', "Line 3 is no event."),
        (b'{"event":"teleported","t":1}', "Line 3 is of an unknown kind, 'teleported'."),
        (b'{"event":"token","t":1}', "Line 3 is no valid token"),
        (b'{"event":"token","t":"1","index":1,"id":1,"piece":"","decode_ns":0,"sample_ns":0}', "is no valid token"),
        (b'{"event":"token","t":1,"index":1,"id":1,"piece":"%%%","decode_ns":0,"sample_ns":0}', "is no valid token"),
        (b'{"event":"log","t":1,"level":"info","text":"\xff"}', "Line 3 is no valid log"),
        (b'{"event":"log","t":1,"level":"info","text":"","x":' + b"[" * 99_999 + b"]" * 99_999 + b"}", "Line 3 is "),
        (b'{"event":"load_progress","t":1,"fraction":1e999}', "is no valid load_progress"),
        (b'{"event":"load_progress","t":1,"fraction":1e99}', "has an impossible number"),
        (b'{"event":"load_progress","t":1' + b"0" * 40 + b',"fraction":1}', "has an impossible number"),
        (b'{"event":"token","t":1,"index":1,"id":1,"piece":"","decode_ns":-1,"sample_ns":0}', "an impossible number"),
        (b'{"event":"token","t":1,"index":1,"id":-2,"piece":"","decode_ns":0,"sample_ns":0}', "an impossible number"),
        (b'{"event":"prefill_progress","t":1,"processed":-1,"cached":0,"total":3}', "an impossible number"),
        (b'{"event":"failed","t":1,"stage":"load","what":"","most_context":-1}', "has an impossible number"),
        (b'{"event":"prompt_ready","t":1,"tokens":[99999999999],"cached":0}', "an impossible number"),
    ],
)
def test_a_bad_line_is_left_out_and_named(tmp_path: Path, line: bytes, note: str) -> None:
    header, first, *rest = LINES.splitlines(keepends=True)
    trace = read(tmp_path, b"".join([header, first, line + b"\n", *rest]))
    assert trace.events == tuple(session())
    assert len(trace.notes) == 1
    assert note in trace.notes[0]


def test_bad_lines_of_a_kind_are_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, LINES + b'{"event":"new","t":1}\n' * 1000 + b"x\n" * 2)
    count = len(session()) + 2
    assert trace.notes == (
        f"1,000 lines are of an unknown kind, 'new'; the first is line {count}.",
        f"2 lines are no events; the first is line {count + 1000:,}.",
    )


def test_notes_are_bounded(tmp_path: Path) -> None:
    trace = read(tmp_path, LINES + b"".join(b'{"event":"new%d"}\n' % number for number in range(1000)))
    assert len(trace.notes) < 30
    assert "980 more lines" in trace.notes[-1]


@pytest.mark.parametrize(
    "change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: data.replace(b"\n", b"\n\n")]
)
def test_other_line_ends(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    assert read(tmp_path, change(LINES)) == Trace(HEADER, tuple(session()), ())


def test_fields_that_are_not_known_are_skipped(tmp_path: Path) -> None:
    data = LINES.replace(b'"event":"token",', b'"event":"token","mood":"calm",').replace(
        b'"text":true', b'"x":1,"text":true'
    )
    assert read(tmp_path, data) == Trace(HEADER, tuple(session()), ())


def test_a_newer_format_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has format 3, and this version reads formats up to 2") as raised:
        read(tmp_path, b'{"event":"trace","format":3,"decodescope":"9.9","whatever":[]}\n')
    assert raised.value.reason == "It was written by decodescope 9.9."
    assert raised.value.remedy == "Update decodescope."


@pytest.mark.parametrize("number", ["0", "-1", "true", '"1"', "null", "1.5", "9" * 400])
def test_no_other_number_is_a_format(tmp_path: Path, number: str) -> None:
    with pytest.raises(TraceError):
        read(tmp_path, f'{{"event":"trace","format":{number}}}\n'.encode())


def test_a_damaged_header_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"first line of some\.jsonl is damaged"):
        read(tmp_path, b'{"event":"trace","format":1}\n')


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"hello\n", "is not a recording"),
        (b"[]\n", "is not a recording"),
        (b"GGUF\x03\x00\x00\x00" + bytes(1000), "is not a recording"),
        ("{}".encode("utf-16"), "is not a recording"),
        (b"[" * 100_000, "is not a recording"),
        (b'{"event":"trace","t":17,"for', "was cut off within its first line"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\x1f\x8b", "is empty"),
        (b"\x28\xb5\x2f\xfd", "is empty"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 50, "is empty"),
    ],
)
def test_what_is_no_recording_is_refused_in_words(tmp_path: Path, data: bytes, what: str) -> None:
    with pytest.raises(TraceError, match=what):
        read(tmp_path, data)


def test_a_folder_and_nothing_at_all_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read") as raised:
        read_trace(tmp_path)
    assert raised.value.reason == "Is a directory"
    with pytest.raises(TraceError) as raised:
        read_trace(tmp_path / "missing")
    assert raised.value.reason == "No such file or directory"


def test_lines_of_run_jsonl_are_taken(tmp_path: Path) -> None:
    trace = read(tmp_path, encoded(session(), text=True))
    assert trace.header is None
    assert trace.events == tuple(session())
    assert trace.notes == ("It has no header: the machine and the settings are not known.",)


@pytest.mark.parametrize("name", FORMS)
def test_files_one_after_another(tmp_path: Path, name: str) -> None:
    """The second recording's clock goes on where the first one's ended, even where the machine was started anew."""
    path = written(tmp_path / name)
    path.write_bytes(path.read_bytes() * 2)
    trace = read_trace(path)
    assert len(trace.events) == 2 * len(session())
    assert len(trace.notes) == 1
    assert "Another recording begins" in trace.notes[0]
    times = [event.t for event in trace.events]
    assert times == sorted(times)
    first, _, second, _ = generations(trace.events)
    assert second.run().ttft_ns == first.run().ttft_ns == 112 * MS


def test_what_follows_a_compressed_file_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gz")
    path.write_bytes(path.read_bytes() + b"junk")
    trace = read_trace(path)
    assert trace.events == tuple(session())
    assert "damaged" in trace.notes[0]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("seed", range(40))
def test_nothing_in_a_file_ends_the_program(tmp_path: Path, name: str, seed: int) -> None:
    chance = random.Random(seed)
    path = written(tmp_path / name)
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 20)):
        place = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                del data[place : place + chance.randrange(40)]
            case 2:
                data[place:place] = data[chance.randrange(len(data)) :][: chance.randrange(200)]
            case _:
                data[place:place] = chance.choice([b"9" * 30, b"-", b"1e308", b"\n", b"null", b"}", b'"'])
    path.write_bytes(data)
    try:
        trace = read_trace(path)
    except TraceError:
        return
    for generation in generations(trace.events):
        figures(generation.run())


def figures(run: object) -> None:
    """Compute everything that a run can say."""
    for name in dir(type(run)):
        if isinstance(getattr(type(run), name), property):
            getattr(run, name)


@pytest.mark.parametrize(
    "events",
    [
        [token(1, 1, b"before anything")],
        [finished(1)],
        [taken(5), taken(6), finished(7)],
        [taken(5), finished(6), finished(7)],
        [taken(5), token(6, 1, b"a"), finished(7), token(8, 2, b"after the end")],
        [taken(5), token(6, 1, b"a"), ready(), token(8, 2, b"another model")],
        [taken(5), ready(), taken(6), token(7, 1, b"a")],
        [*answer([b"a", b"b"]), *answer([b"c"]), finished(900 * MS)],
        [finished(900 * MS), *reversed(answer([b"a", b"b", b"c"]))],
        [taken(5), token(3, 1, b"a"), token(2, 2, b"b"), token(1, 3, b"c"), finished(0)],
        [taken(-5), token(-(2**61), 1, b"a"), token(2**61, 2, b"b")],
        [taken(0), *(token(7, number, b"a") for number in range(1, 60))],
    ],
)
def test_any_order_is_read_and_has_figures(tmp_path: Path, events: list[Event]) -> None:
    trace = read_trace(written(tmp_path / "a.jsonl", events))
    assert [type(event) for event in trace.events] == [type(event) for event in events]
    for generation in generations(trace.events):
        figures(generation.run())


def test_going_back_in_time_is_named(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "a.jsonl", [taken(5), token(3, 1, b"a"), finished(9)]))
    assert trace.notes == ("Line 3 goes back in time.",)


@pytest.mark.parametrize("numbers", [(1, 2, 5), (1, 1, 1), (3, 2, 1), (0, -7, 2**70)])
def test_tokens_are_numbered_without_a_gap(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    tokens = [replace(token(place, 1, b"a"), index=number) for place, number in enumerate(numbers, 6)]
    trace = read_trace(written(tmp_path / "a.jsonl", [taken(5), *tokens, finished(99)]))
    assert [event.index for event in trace.events if isinstance(event, Token)] == [1, 2, 3]
    assert "follow the token before" in trace.notes[0]


def test_numbers_begin_anew_with_each_generation(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "a.jsonl", session()))
    assert [event.index for event in trace.events if isinstance(event, Token)] == [1, 2, 3, 4, 5, 1]


def test_generations(tmp_path: Path) -> None:
    first, second = generations(session())
    assert (first.model, second.model) == (ready(), ready())
    assert isinstance(first.events[-1], Finished)
    assert (first.run().token_count, second.run().token_count) == (5, 1)
    assert (first.run().finish_reason, second.run().finish_reason) == ("stop", "failed")


def test_too_many_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_EVENTS", 3)
    monkeypatch.setattr("decodescope.traces.compression._READ_SIZE", 2000)
    trace = read_trace(written(tmp_path / "a.jsonl"))
    assert 3 <= len(trace.events) < len(session())
    assert "longer than a recording may" in trace.notes[0]


@pytest.mark.parametrize("begins", [LINES, b""])
def test_a_small_file_cannot_take_all_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begins: bytes) -> None:
    monkeypatch.setattr(reader, "_LONGEST_LINE", 1 << 22)
    bomb = tmp_path / "bomb.zst"
    packer = ZstdCompressor()
    bomb.write_bytes(
        packer.compress(begins) + b"".join(packer.compress(bytes(1 << 22)) for _ in range(64)) + packer.flush()
    )
    assert bomb.stat().st_size < 1 << 18
    tracemalloc.start()
    try:
        if begins:
            assert "longer than a recording may" in read_trace(bomb).notes[0]
        else:
            with pytest.raises(TraceError, match=r"bomb\.zst is not a recording"):
                read_trace(bomb)
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()


def test_lines_that_are_nothing_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_FOREIGN", 1000)
    trace = read(tmp_path, LINES + b'{"event":"new","t":1}\n' * 300_000)
    assert trace.events == tuple(session())
    assert "Most lines are nothing that this version knows; the rest of the file was not read." in trace.notes
    (counted,) = [note for note in trace.notes if "unknown kind" in note]
    assert int(counted.split()[0].replace(",", "")) < 100_000


def test_a_newer_version_may_add_a_line_to_every_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_FOREIGN", 2)
    events = [*answer([b"a"] * 100_000)]
    trace = read(tmp_path, encode_header(HEADER) + encoded(events, text=True).replace(b"\n", b'\n{"event":"new"}\n'))
    assert trace.events == tuple(events)


def test_empty_lines_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_LINES", 1000)
    trace = read(tmp_path, LINES + b"\n" * (3 << 20) + LINES)
    assert trace.events == tuple(session())
    assert "The file goes on for longer than a recording may; the rest of it was not read." in trace.notes


@pytest.mark.parametrize("name", FORMS)
def test_how_far_it_is_is_told(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, [replace(one, t=one.t + n) for n in range(5000) for one in answer([b"a"])])
    shares: list[float] = []
    read_trace(path, shares.append)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] == 1
