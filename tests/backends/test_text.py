"""Pieces joined to text, and text made safe to draw."""

import random
import re
import unicodedata

import pytest

from decodescope.backends.events import Finished, Token
from decodescope.backends.stopping import StopStrings
from decodescope.backends.text import Piece, TextStream, visible, well_formed, written
from decodescope.backends.token_facts import Part


def token(
    index: int,
    piece: bytes,
    *,
    held: int = 0,
    control: bool = False,
    thinking: bool = False,
    parts: tuple[Part, ...] | None = None,
) -> Token:
    return Token(
        t=index,
        index=index,
        id=index,
        piece=piece,
        decode_ns=0,
        sample_ns=0,
        held=held,
        control=control,
        thinking=thinking,
        parts=parts,
    )


def finished(held: int = 0) -> Finished:
    return Finished(t=0, reason="stop", held=held)


def split(data: bytes, generator: random.Random) -> list[bytes]:
    """Cut anywhere, into pieces of which some are empty."""
    cuts = sorted(generator.randrange(len(data) + 1) for _ in range(generator.randrange(len(data) + 2)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


class TestVisible:
    def test_a_hostile_piece_becomes_signs(self) -> None:
        assert visible("a\x1b[2J\x1b]0;t\x07b\u009b2J") == "a␛[2J␛]0;t␇b\ufffd2J"

    @pytest.mark.parametrize("keep_lines", [False, True])
    def test_nothing_that_commands_a_terminal_is_left(self, keep_lines: bool) -> None:
        text = "".join(map(chr, range(0x110000)))
        drawn = visible(text, keep_lines=keep_lines)
        assert len(drawn) == len(text)
        kept = "\t\n" if keep_lines else ""
        commands = {char for char in drawn if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
        assert commands == set(kept)
        reordering = {char for char in drawn if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF")}
        isolates = {char for char in drawn if unicodedata.bidirectional(char) in ("LRI", "RLI", "FSI", "PDI")}
        assert reordering | isolates == set()

    def test_tab_and_newline_stay_when_lines_are_kept(self) -> None:
        assert visible("a\tb\r\nc", keep_lines=True) == "a\tb␍\nc"
        assert visible("a\tb\r\nc") == "a␉b␍␊c"

    def test_delete_and_null_are_drawn(self) -> None:
        assert visible("\x7f\x00") == "␡␀"

    def test_a_surrogate_from_a_file_name_can_be_written(self) -> None:
        name = b"m\xff.gguf".decode("utf-8", "surrogateescape")
        assert visible(name).encode() == "m\ufffd.gguf".encode()

    @pytest.mark.parametrize(
        "text",
        ["ok [/INST]", "a[/p/q.py]", "x: list[int]", "[@click=app.quit]x[/]", "naïve 日本語 👩‍👩‍👧 e\u0301 שלום", ""],
    )
    def test_ordinary_text_is_untouched(self, text: str) -> None:
        assert visible(text) == text


class TestWellFormed:
    def test_bytes_that_were_no_utf_8_are_replaced(self) -> None:
        assert well_formed(b"a\xffb".decode("utf-8", "surrogateescape")) == "a\ufffdb"

    def test_a_surrogate_pair_is_one_character(self) -> None:
        assert well_formed("\ud83e\udd99") == "🦙"

    @pytest.mark.parametrize("text", ["", "a\x00\n", "\ufeffa", "日本 🦙 e\u0301", "\U0010ffff\uffff"])
    def test_well_formed_text_is_untouched(self, text: str) -> None:
        assert well_formed(text) == text

    def test_whatever_comes_can_be_encoded_and_only_surrogates_are_touched(self) -> None:
        generator = random.Random(6)
        for _ in range(2000):
            text = "".join(generator.choice("a\ud83e\udd99é🦙\ud800\ufeff\n") for _ in range(generator.randrange(8)))
            result = well_formed(text)
            result.encode()
            lone = re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda pair: "_", text)
            assert len(result) == len(lone)
            for before, after in zip(lone, result, strict=True):
                assert before == "_" or after == ("\ufffd" if "\ud800" <= before <= "\udfff" else before)


def texts(pieces: list[Piece]) -> list[tuple[int, str]]:
    return [(piece.index, piece.text) for piece in pieces]


class TestTextStream:
    def test_a_character_over_three_pieces_appears_with_its_last(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"\xf0")) == []
        assert stream.feed(token(2, b"\x9f\xa6")) == []
        assert texts(stream.feed(token(3, b"\x99"))) == [(3, "🦙")]
        assert stream.finish(finished()) == []

    def test_half_a_character_at_the_end_is_replaced(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"\xf0")) == []
        assert texts(stream.finish(finished())) == [(1, "\ufffd")]

    def test_a_failure_releases_the_rest_as_well(self) -> None:
        stream = TextStream()
        stream.feed(token(1, b"ab\xe6", held=2))
        assert texts(stream.flush()) == [(1, "b"), (1, "\ufffd")]

    def test_each_fragment_has_the_index_of_its_token(self) -> None:
        stream = TextStream()
        assert texts(stream.feed(token(1, b"Hel"))) == [(1, "Hel")]
        assert texts(stream.feed(token(2, b"lo \xc3"))) == [(2, "lo ")]
        assert texts(stream.feed(token(3, b"\xa9t\xc3\xa9"))) == [(3, "été")]

    def test_control_tokens_show_nothing(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"<|im_start|>", control=True)) == []
        assert texts(stream.feed(token(2, b"hi"))) == [(2, "hi")]
        assert stream.feed(token(3, b"<|im_end|>", control=True)) == []
        assert stream.finish(finished()) == []

    def test_a_control_token_does_not_cut_a_character(self) -> None:
        stream = TextStream()
        stream.feed(token(1, b"\xc3"))
        stream.feed(token(2, b"<|x|>", control=True))
        assert texts(stream.feed(token(3, b"\xa9"))) == [(3, "é")]

    def test_held_text_waits_and_comes_with_its_own_index(self) -> None:
        stream = TextStream()
        assert texts(stream.feed(token(1, b"a ST", held=2))) == [(1, "a ")]
        assert stream.feed(token(2, b"O", held=3)) == []
        assert texts(stream.feed(token(3, b"RY"))) == [(1, "ST"), (2, "O"), (3, "RY")]

    def test_a_stop_string_and_what_follows_is_never_shown(self) -> None:
        stream = TextStream()
        assert texts(stream.feed(token(1, b"a ST", held=2))) == [(1, "a ")]
        assert stream.feed(token(2, b"OP and", held=8)) == []
        assert stream.finish(finished(held=8)) == []

    def test_held_text_that_was_no_stop_string_comes_at_the_end(self) -> None:
        stream = TextStream()
        assert texts(stream.feed(token(1, b"a ST", held=2))) == [(1, "a ")]
        assert texts(stream.finish(finished(held=0))) == [(1, "ST")]

    def test_a_broken_character_before_a_stop_string_is_replaced(self) -> None:
        stream = TextStream()
        assert texts(stream.feed(token(1, b"a\xf0\x9fSTOP", held=4))) == [(1, "a")]
        assert texts(stream.finish(finished(held=4))) == [(1, "\ufffd")]

    def test_pieces_without_bytes_are_harmless(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"")) == []
        assert texts(stream.feed(token(2, b"a"))) == [(2, "a")]
        assert stream.feed(token(3, b"")) == []
        assert stream.finish(finished()) == []

    def test_a_byte_order_mark_is_text(self) -> None:
        assert texts(TextStream().feed(token(1, b"\xef\xbb\xbfa"))) == [(1, "\ufeffa")]

    def test_any_split_gives_what_decoding_at_once_gives(self) -> None:
        generator = random.Random(1)
        alphabet: list[str | bytes] = [
            *("a", " ", "\n", "é", "日", "🦙", "e\u0301", "👩‍👩‍👧"),
            *(b"\xf0", b"\x9f", b"\xc3", b"\xff", b"\xe6\xad", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"),
        ]
        for _ in range(3000):
            parts = (generator.choice(alphabet) for _ in range(generator.randrange(12)))
            data = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
            stream, fragments = TextStream(), []
            pieces = split(data, generator)
            for index, piece in enumerate(pieces, start=1):
                fragments += stream.feed(token(index, piece))
            fragments += stream.finish(finished())
            assert "".join(text for _, text in texts(fragments)) == data.decode("utf-8", "replace"), (data, pieces)
            assert all(text for _, text in texts(fragments))
            indexes = [index for index, _ in texts(fragments)]
            assert indexes == sorted(indexes)

    def test_with_stop_strings_any_split_shows_what_stands_before_the_first(self) -> None:
        generator = random.Random(2)
        for _ in range(3000):
            data = "".join(generator.choice(("a", "b", "ab", "é", "🦙", "\n")) for _ in range(30)).encode()
            stop = generator.choice(("ab\n", "aab", "\n\n", "é🦙", "bab", "aa", "a", "never"))
            stops, stream, shown = StopStrings((stop,)), TextStream(), ""
            found, held = False, 0
            expected = data.decode().split(stop)[0]
            for index, piece in enumerate(split(data, generator), start=1):
                found, held = stops.feed(piece)
                shown += "".join(text for _, text in texts(stream.feed(token(index, piece, held=held))))
                assert expected.startswith(shown)  # nothing shown is ever taken back
                if found:
                    break
            shown += "".join(text for _, text in texts(stream.finish(finished(held if found else 0))))
            assert shown == expected
            assert found == (stop.encode() in data)


class TestKinds:
    def test_what_may_be_a_tag_waits_until_it_is_told(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"a</", thinking=True, parts=(Part(1, "reasoning", 1),))) == [
            Piece(1, "a", "reasoning")
        ]
        parts = (Part(1, "control", 2), Part(2, "control", 6), Part(2, "answer", 2))
        assert stream.feed(token(2, b"think>42", parts=parts)) == [
            Piece(1, "</", "control"),
            Piece(2, "think>", "control"),
            Piece(2, "42", "answer"),
        ]
        assert stream.finish(finished()) == []

    def test_the_end_tells_what_was_left(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"<thi", thinking=True, parts=())) == []
        end = Finished(t=0, reason="length", parts=(Part(1, "answer", 4),))
        assert stream.finish(end) == [Piece(1, "<thi", "answer")]

    def test_a_failure_leaves_it_to_what_came_before(self) -> None:
        stream = TextStream()
        stream.feed(token(1, b"hm", thinking=True))
        stream.feed(token(2, b"</thi", thinking=True, parts=()))
        assert stream.flush() == [Piece(2, "</thi", "reasoning")]

    def test_a_stop_string_is_held_back_whatever_the_text_is(self) -> None:
        stream = TextStream()
        parts = (Part(1, "control", 8), Part(1, "answer", 4))
        assert stream.feed(token(1, b"</think>abST", held=2, parts=parts)) == [
            Piece(1, "</think>", "control"),
            Piece(1, "ab", "answer"),
        ]
        assert stream.finish(finished(held=2)) == []

    def test_parts_that_say_more_than_there_is_do_no_harm(self) -> None:
        stream = TextStream()
        assert stream.feed(token(1, b"ab", parts=(Part(1, "channel", 2**31 - 1, "x"), Part(9, "answer", 5)))) == [
            Piece(1, "ab", "channel", "x")
        ]
        assert stream.feed(token(2, b"c")) == [Piece(2, "c")]

    def test_the_tags_of_older_recordings_are_none_of_the_text(self) -> None:
        stream = TextStream()
        pieces = [
            stream.feed(token(n, piece, thinking=True)) for n, piece in enumerate([b"<think>", b"hm", b"</think>\n"], 1)
        ]
        assert [piece.kind for told in pieces for piece in told] == ["control", "reasoning", "control"]

    def test_what_was_written_is_told_apart(self) -> None:
        pieces = [
            Piece(1, "<think>", "control"),
            Piece(2, "so", "reasoning"),
            Piece(3, "</think>", "control"),
            Piece(4, "4", "answer"),
            Piece(5, "{}", "channel", "commentary to functions.x"),
            Piece(6, "hm", "reasoning"),
            Piece(7, "2", "answer"),
        ]
        text = "<think>so</think>4\n\n{}\n\nhm\n\n2"
        assert written(pieces) == (text, "42", "so\n\nhm", [("commentary to functions.x", "{}")])
        assert written([]) == ("", "", None, [])
