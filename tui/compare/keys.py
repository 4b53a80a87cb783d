"""Every key of the compare screen in one place, as for the scope."""

from ..keys import APP_KEYS, Key

KEYS = (
    Key("escape", "cancel", "stop", "End what runs; what was done stays. Twice: at once.", "esc"),
    Key("space", "pause", "pause", "The race: pause it, or let it go on; from the start when it is over.", "space"),
    Key("a", "again", "again", "The race: from the start.", "a", rank=4),
    Key("minus", "slower", "slower", "The race: slower, down to a tenth.", "-", rank=6, pair="speed"),
    Key("plus", "faster", "faster", "The race: faster, up to 16 times.", "+", rank=6, pair="speed"),
    Key("comma", "back", "back", "The race: a twentieth back.", ",", rank=7, pair="seek"),
    Key("full_stop", "forward", "forth", "The race: a twentieth forward.", ".", rank=7, pair="seek"),
    Key("n", "next_round", "next", "The race: the next of the rounds that were run.", "n", rank=5),
    Key("right", "next_lane", "lane", "Go to the next lane; left: to the one before.", "←→"),
    Key("enter", "open", "open", "Open the chosen lane as a scope, with all its lenses.", "enter"),
    Key("r", "round", "round", "Run another round.", "r", rank=1),
    Key("s", "sort", "sort", "The table: sort by the next column.", "s", rank=2),
    Key("S", "reverse", "reverse", "The table: the other way round.", "S", rank=8),
    Key("v", "notes", "notes", "Show the verdict and all that has to be known with it, in full.", "v", rank=1),
    Key("f6", "meter", "cost", "Show or hide what watching costs: CPU, bytes, frames, delay.", "f6", rank=8),
    Key("ctrl+y", "copy", "copy", "Copy the table as Markdown.", "^y", rank=3),
    Key("ctrl+s", "save", "save", "Save the table as Markdown in the current directory.", "^s", rank=3),
    Key(
        "ctrl+o",
        "keep",
        "keep",
        "Keep the comparison so far, with all its times, as a file in the current directory.",
        "^o",
        rank=8,
    ),
    Key("f1", "help", "help", "Show the keys and what the figures mean.", "f1"),
    Key("ctrl+p", "app.command_palette", "menu", "Find a command, or change the theme.", "^p", rank=2),
    *APP_KEYS,
    Key("ctrl+q", "app.quit", "quit", "Quit.", "^q"),
)

_OF_THE_RACE = frozenset(
    {"pause", "again", "slower", "faster", "back", "forward", "next_round", "round"}  # another round: once all is done
)


def keys_now(*, busy: bool) -> tuple[Key, ...]:
    """Return those that do something while the comparison runs (``busy``), or once it is done."""
    return tuple(key for key in KEYS if (key.action not in _OF_THE_RACE if busy else key.action != "cancel"))


LANE_KEYS = (
    ("tab", "The next lane, as right; shift+tab and left: the one before. So does a click."),
    ("1 to 6", "That lane."),
    ("up, down", "Scroll the chosen lane's text; end follows the newest again."),
)
