"""Warnings about the quality of the answers, taken from llama.cpp's log."""

import re
from collections.abc import Callable

from ..model_warnings import NO_PRE_TOKENIZER

_SPELLINGS_SHOWN = 3

_Words = Callable[[re.Match[str]], str]


_WORDS: tuple[tuple[re.Pattern[str], _Words], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"missing pre-tokenizer type", lambda _: NO_PRE_TOKENIZER),
        (
            r"special_(eos|eot|eom)_id is not in special_eog_ids",
            lambda match: (
                f"The file does not list the {match[1].upper()} token among those that end an answer, so its tokenizer"
                " may be wrong; llama.cpp has added it. If answers do not end, get another conversion or use --stop."
            ),
        ),
        (
            r"(?:bad|default) special token:? '([^']*)'",
            lambda match: (
                f"The file's {match[1]} names a token that is not in its vocabulary, so it is ignored. If answers do"
                " not end, get another conversion or use --stop."
            ),
        ),
        (
            r"EOG token id (\d+) is out of range",
            lambda match: (
                f"The file lists token {match[1]} among those that end an answer, but its vocabulary has no such token."
                " If answers do not end, get another conversion or use --stop."
            ),
        ),
        (
            r"Phi SWA is currently disabled",
            lambda _: "llama.cpp does not apply this model's sliding window: answers to long prompts may be worse.",
        ),
        (
            r"flash attention disabled; MSA requires it",
            lambda _: "Without flash attention this model's sparse attention is not used. Use -fa on.",
        ),
    )
)
_UNMARKED = re.compile(r"control-looking token:\s*\d+ '(.*)' was not control-type", re.DOTALL)


class Complaints:
    """Reads llama.cpp's log as it comes."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}
        self._unmarked: dict[str, None] = {}

    def observe(self, text: str) -> None:
        """Take in a piece of the log, which holds whole messages."""
        if (unmarked := _UNMARKED.search(text)) is not None:
            self._unmarked[unmarked[1]] = None
            return
        for pattern, words in _WORDS:
            if (match := pattern.search(text)) is not None:
                self._sentences[words(match)] = None

    @property
    def sentences(self) -> list[str]:
        """The warnings so far, each once."""
        return [*self._sentences, *([self._of_unmarked()] if self._unmarked else [])]

    def _of_unmarked(self) -> str:
        spellings = list(self._unmarked)
        more = ", …" if len(spellings) > _SPELLINGS_SHOWN else ""
        one = len(spellings) == 1
        return (
            f"{'A control token is' if one else f'{len(spellings)} control tokens are'} not marked as such in the file"
            f" ({', '.join(spellings[:_SPELLINGS_SHOWN])}{more}): llama.cpp has corrected that. The"
            " conversion may contain other mistakes; get a newer one."
        )
