"""Stop strings over a stream of pieces."""

import random

import pytest

from decodescope.backends.stopping import StopStrings


def feed_all(stops: tuple[str, ...], *pieces: bytes) -> list[tuple[bool, int]]:
    finder = StopStrings(stops)
    return [finder.feed(piece) for piece in pieces]


def test_a_stop_string_in_one_piece() -> None:
    assert feed_all(("STOP",), b"a STOP b") == [(True, 6)]  # "STOP b" is held


def test_a_stop_string_over_three_pieces() -> None:
    assert feed_all(("STOP",), b"go S", b"TO", b"P!") == [(False, 1), (False, 3), (True, 5)]


def test_one_byte_at_a_time() -> None:
    assert feed_all(("\n\n",), b"a", b"\n", b"b", b"\n", b"\n") == [
        (False, 0),
        (False, 1),
        (False, 0),
        (False, 1),
        (True, 2),
    ]


def test_what_was_no_stop_string_is_released() -> None:
    assert feed_all(("STOP",), b"STO", b"RY") == [(False, 3), (False, 0)]


def test_a_false_beginning_that_holds_a_true_one() -> None:
    # "aab" in "aaab": after "aa" a third "a" keeps two bytes held.
    assert feed_all(("aab",), b"aa", b"a", b"b") == [(False, 2), (False, 2), (True, 3)]


def test_the_earliest_in_one_piece_wins() -> None:
    assert feed_all(("cd", "ab"), b"xabcd") == [(True, 4)]


def test_the_one_that_is_complete_first_wins() -> None:
    # "cd" is complete before "abcdef" can be.
    assert feed_all(("abcdef", "cd"), b"abc", b"d") == [(False, 3), (True, 2)]


def test_the_longest_possible_beginning_is_held() -> None:
    assert feed_all(("bX", "abcY"), b"zab") == [(False, 2)]


def test_a_stop_string_of_one_byte_is_never_held_in_part() -> None:
    assert feed_all((".",), b"a", b"b.c") == [(False, 0), (True, 2)]


def test_characters_are_counted_in_bytes() -> None:
    # é is c3 a9, 🦙 f0 9f a6 99.
    assert feed_all(("é🦙",), b"\xc3", b"\xa9\xf0\x9f", b"\xa6\x99") == [(False, 1), (False, 4), (True, 6)]


@pytest.mark.parametrize("stops", [(), ("",), ("", "")])
def test_without_a_stop_string_nothing_is_found_or_held(stops: tuple[str, ...]) -> None:
    assert feed_all(stops, b"", b"anything", b"\xff") == [(False, 0)] * 3


def test_an_empty_stop_string_beside_another_is_left_out() -> None:
    assert feed_all(("", "x"), b"a", b"x") == [(False, 0), (True, 1)]


def test_an_empty_piece_keeps_what_is_held() -> None:
    assert feed_all(("STOP",), b"ST", b"", b"OP") == [(False, 2), (False, 2), (True, 4)]


def random_text(generator: random.Random, length: int) -> str:
    return "".join(generator.choice("abé") for _ in range(length))


def test_any_split_finds_the_first_stop_of_the_whole() -> None:
    generator = random.Random(3)
    for _ in range(3000):
        whole = random_text(generator, generator.randrange(40)).encode()
        stop = random_text(generator, generator.randrange(1, 7))
        finder, position, end = StopStrings((stop,)), -1, 0
        while end < len(whole) and position < 0:
            size = generator.randrange(0, 5)
            found, held = finder.feed(whole[end : end + size])
            end = min(end + size, len(whole))
            if found:
                position = end - held
        assert position == whole.find(stop.encode()), (whole, stop)


def test_many_stops_are_found_and_held_as_a_search_of_all_text_so_far_would() -> None:
    generator = random.Random(4)
    for _ in range(2000):
        stops = tuple(random_text(generator, generator.randrange(1, 6)) for _ in range(generator.randrange(1, 5)))
        encoded = [stop.encode() for stop in stops]
        finder, text = StopStrings(stops), b""
        for _ in range(20):
            piece = random_text(generator, generator.randrange(0, 4)).encode()
            text += piece
            found, held = finder.feed(piece)
            positions = [position for stop in encoded if (position := text.find(stop)) >= 0]
            assert found == bool(positions)
            if found:
                assert held == len(text) - min(positions)
                break
            beginnings = (stop[:size] for stop in encoded for size in range(len(stop)))
            assert held == max(len(beginning) for beginning in beginnings if text.endswith(beginning))


def test_memory_does_not_grow_with_the_text() -> None:
    finder = StopStrings(("STOP",))
    for _ in range(1000):
        finder.feed(b"S" * 1000)
    assert finder.feed(b"TOP") == (True, 4)
    assert sum(len(value) for value in vars(finder).values() if isinstance(value, bytes)) < 16
