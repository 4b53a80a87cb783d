"""Every key of the scope in one place: bindings, key bar, command palette and help are made from this table."""

from collections.abc import Sequence

import msgspec
from textual.binding import Binding, BindingType


class Key(msgspec.Struct, frozen=True):
    """One thing that a key does."""

    key: str
    """As Textual names it. Acts whatever has the focus."""
    action: str
    label: str
    """One word for the key bar."""
    help: str
    """One sentence."""
    display: str
    letter: str = ""
    """A single key that does the same where there is no prompt box to type into."""
    rank: int = 0
    """In a narrow key bar the highest ranks go first; rank 0 always stays."""
    recorded: bool = True
    """Whether it works on a recording, which can only be looked at."""
    pair: str = ""
    """One word for what it and the other keys of this name do together: the key bar has one entry for them."""

    @property
    def of_the_app(self) -> str:
        """The action's name if every app has it; otherwise empty."""
        return self.action.removeprefix("app.") if self.action.startswith("app.") else ""


APP_KEYS = (
    Key(
        "f12",
        "app.redraw",
        "redraw",
        "Redraw the screen, for example after another program has written to it.",
        "f12",
        rank=9,
    ),
    Key(
        "ctrl+z",
        "app.suspend_process",
        "suspend",
        "Go back to the shell; fg returns here. The engine keeps running.",
        "^z",
        rank=9,
    ),
)
"""Keys of every app on a terminal."""

KEYS = (
    Key("escape", "stop", "stop", "Stop the answer.", "esc", recorded=False),
    Key(
        "ctrl+r",
        "again",
        "again",
        "Answer the last prompt again; start the engine again if it is gone.",
        "^r",
        "r",
        rank=1,
        recorded=False,
    ),
    Key(
        "f2",
        "edit",
        "edit",
        "Change the last prompt: enter replaces its turn, esc leaves it as it was.",
        "f2",
        "e",
        rank=3,
        recorded=False,
    ),
    Key(
        "f3",
        "lens",
        "lens",
        "Tint the tokens by time, by probability or by entropy; those of a comparison by KL divergence too.",
        "f3",
        "l",
        rank=2,
    ),
    Key("f4", "inspect", "inspect", "Walk from token to token and see everything about one.", "f4", "i", rank=2),
    Key("f5", "why", "why", "Say why it is slower to write than to read.", "f5", "w", rank=7),
    Key(
        "f6",
        "meter",
        "cost",
        "Show or hide what watching costs: CPU, bytes, frames, delay.",
        "f6",
        "u",
        rank=7,
        recorded=False,
    ),
    Key(
        "f7",
        "settings",
        "options",
        "Change how the model is asked: sampling, limits, system prompt, context.",
        "f7",
        "o",
        rank=4,
        recorded=False,
    ),
    Key("f8", "model", "model", "Choose another model; the conversation stays.", "f8", "m", rank=4, recorded=False),
    Key("f9", "fold", "fold", "Show the reasoning in one line, or in full.", "f9", "f", rank=7),
    Key("ctrl+t", "tokens", "tokens", "Show or hide the table of tokens.", "^t", "t", rank=2),
    Key("ctrl+y", "copy", "copy", "Copy the last answer to the clipboard.", "^y", "y", rank=5),
    Key("ctrl+s", "save", "save", "Save the last answer as a file in the current directory.", "^s", "s", rank=6),
    Key(
        "ctrl+o",
        "keep",
        "keep",
        "Keep the session so far, with all its times, as a file in the current directory.",
        "^o",
        "k",
        rank=8,
        recorded=False,
    ),
    Key("ctrl+l", "clear", "clear", "Clear the conversation; the model forgets it.", "^l", rank=3, recorded=False),
    Key("f1", "help", "help", "Show the keys and what the figures mean.", "f1", "question_mark"),
    Key("ctrl+p", "app.command_palette", "menu", "Find a command, or change the theme.", "^p", rank=1),
    *APP_KEYS,
    Key("ctrl+q", "app.quit", "quit", "Quit.", "^q"),
)

BACK = Key("escape", "back", "back", "Go back to the comparison.", "esc", "q")
"""Takes the place of ``stop`` on a recording."""
RECORDING_KEYS = (BACK, *(key for key in KEYS if key.recorded))

BOX_KEYS = (
    ("enter", "Send the prompt."),
    ("^j", "New line; also shift+enter or alt+enter where the terminal tells them apart."),
    ("up, down", "On the first or last line: earlier and later prompts."),
    ("tab", "Move between the prompt box, the conversation and the tokens; what is typed goes to the box in any case."),
)

READING_KEYS = (
    ("up, down", "Scroll; so do page up, page down and the mouse wheel. The text then stays where it is."),
    ("end", "Follow the newest text again."),
    (
        "left, right",
        "With the inspector: the token before and the next one. Up and down go by line, a click picks one.",
    ),
    ("enter", "Go back to the prompt box."),
)


def bindings(keys: Sequence[Key] = KEYS, *, letters: bool = True) -> list[Binding]:
    """Return the bindings of a screen on which these keys work; without ``letters`` these are typed."""
    made: list[Binding] = []
    for key in keys:
        if key.of_the_app:
            continue  # bound by the app itself
        made.append(Binding(key.key, key.action, key.help, show=False, priority=True))
        if letters and key.letter:
            made.append(Binding(key.letter, key.action, key.help, show=False))
    return made


def app_bindings() -> list[BindingType]:
    """Return the bindings of an app for ``APP_KEYS``."""
    return [Binding(key.key, key.of_the_app, key.help, show=False, priority=True) for key in APP_KEYS]


def refusing() -> list[Binding]:
    """Return bindings for the keys that do not work on a recording: ``action_refuse`` says so."""
    return [
        Binding(name, "refuse", show=False, priority=name == key.key)
        for key in KEYS
        if not key.recorded and key.key != BACK.key
        for name in (key.key, key.letter)
        if name
    ]


def letter_display(key: Key) -> str:
    """Return the letter of a key as printed on it."""
    return "?" if key.letter == "question_mark" else key.letter
