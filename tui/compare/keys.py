"""Every key of the compare screen in one place, as for the scope."""

from ..keys import Key

KEYS = (
    Key("escape", "cancel", "stop", "End what runs; what was done stays. Twice: at once.", "esc"),
    Key("space", "pause", "pause", "The race: pause it, or let it go on; from the start when it is over.", "space"),
    Key("a", "again", "again", "The race: from the start.", "a", rank=2),
    Key("minus", "slower", "slower", "The race: slower, down to a tenth.", "-", rank=3),
    Key("plus", "faster", "faster", "The race: faster, up to 16 times.", "+", rank=3),
    Key("comma", "back", "back", "The race: a twentieth back.", ",", rank=6),
    Key("full_stop", "forward", "forth", "The race: a twentieth forward.", ".", rank=6),
    Key("n", "next_round", "round", "The race: the next of the rounds that were run.", "n", rank=7),
    Key("right", "next_lane", "lane", "Go to the next lane; left: to the one before.", "←→", rank=1),
    Key("enter", "open", "open", "Open the chosen lane as a scope, with all its lenses.", "enter", rank=1),
    Key("r", "round", "one more", "Run another round.", "r", rank=2),
    Key("s", "sort", "sort", "The table: sort by the next column.", "s", rank=4),
    Key("S", "reverse", "reverse", "The table: the other way round.", "S", rank=7),
    Key("f6", "meter", "cost", "Show or hide what watching costs: CPU, bytes, frames, delay.", "f6", rank=8),
    Key("ctrl+y", "copy", "copy", "Copy the table as Markdown.", "^y", rank=5),
    Key("ctrl+s", "save", "save", "Save the table as Markdown in the current directory.", "^s", rank=5),
    Key("f1", "help", "help", "Show the keys and what the figures mean.", "f1"),
    Key("ctrl+p", "app.command_palette", "menu", "Find a command, or change the theme.", "^p", rank=1),
    Key("ctrl+q", "app.quit", "quit", "Quit.", "^q"),
)

LANE_KEYS = (
    ("tab", "The next lane, as right; shift+tab and left: the one before. So does a click."),
    ("1 to 6", "That lane."),
    ("up, down", "Scroll the chosen lane's text; end follows the newest again."),
)
