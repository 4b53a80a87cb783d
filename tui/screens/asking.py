"""What the user asks for: prompts, and what is done with the turns of the conversation."""

from typing import TYPE_CHECKING

from ...backends.requests import Request
from ..engine_link import EngineLink
from ..history import History
from ..session import Phase
from ..widgets.prompt_box import PromptBox

if TYPE_CHECKING:
    from ..conversation.view import Conversation
    from .scope_view import ScopeView

    _Base = ScopeView
else:
    _Base = object

_EDITABLE_CHARACTERS = 200_000


class Asking(_Base):
    """A part of the scope's screen: the conversation on it, the session and the engine go together."""

    _link: EngineLink
    _history: History
    _box: PromptBox
    _waiting_prompt: str | None
    """Asked as soon as the model is ready; in the conversation already."""
    _after_end = ""
    """The action to take when the running generation has ended."""
    _draft = ""
    """What was in the prompt box before the last prompt was put there to be edited."""

    def _start_engine(self) -> None:
        raise NotImplementedError

    @property
    def _conversation(self) -> "Conversation | None":
        return None if self._face.reading is None else self._face.reading.conversation

    def _send(self, prompt: str) -> bool:
        """Ask as soon as the model is ready; return whether that is possible, and if not, say why."""
        if self.session.busy:
            self._say("The answer is still being written: esc stops it, then enter sends.", "warning")
        elif self.session.phase is Phase.GONE:
            self._say("There is no engine: ^r starts it again, then enter sends.", "warning")
        elif self._waiting_prompt is not None:
            self._say("A prompt is waiting for the model already: esc takes it back.", "warning")
        else:
            self._history.add(prompt)
            self._replace_edited()
            self._waiting_prompt = prompt
            if self._conversation is not None:
                self._conversation.add_user(prompt)
            self._ask_waiting()
            return True
        return False

    def _tell_of_history(self) -> None:
        """Say once why prompts cannot be saved."""
        problem, self._history.problem = self._history.problem, None
        if problem is not None:
            self._say(problem, "warning")

    def _ask_waiting(self) -> None:
        session = self.session
        ready = (
            session.model is not None and not session.busy and not session.starting and session.phase is not Phase.GONE
        )
        if self._waiting_prompt is not None and self._conversation is not None and ready:
            prompt, self._waiting_prompt = self._waiting_prompt, None
            self._generate(self.session.ask(prompt))

    def _generate(self, request: Request) -> None:
        if self._conversation is not None:
            self._conversation.begin_answer()
        self._slow_timer.resume()
        self._link.generate(request)
        self._face.all()

    def _ends_first(self, action: str) -> bool:
        """Whether a generation has to end before ``action``; it is stopped, and the action follows."""
        if not self.session.busy:
            return False
        self._cancel(action)
        return True

    def _cancel(self, then: str = "") -> None:
        self._after_end = then
        self._link.cancel()
        self.session.stop()
        self._face.frame()

    def _take_waiting_back(self) -> bool:
        if self._waiting_prompt is None:
            return False
        prompt, self._waiting_prompt = self._waiting_prompt, None
        if self._conversation is not None:
            self._conversation.drop_last_turn()
        self._fill_box(prompt)
        return True

    def _fill_box(self, prompt: str) -> None:
        box = self._box
        box.fill(prompt)
        box.focus()

    def _edit(self, on: bool) -> None:
        self._face.editing = on
        self._face.keys()

    def _replace_edited(self) -> None:
        """Make room for the prompt that replaces the last one, where that is being edited."""
        if not self._face.editing:
            return
        self._edit(False)
        self.session.take_back()
        if self._conversation is not None:
            self._conversation.drop_last_turn()

    def action_stop(self) -> None:
        """Stop the answer; while the model loads take the waiting prompt back; leave editing; else go to the box."""
        if self.session.busy:
            self._cancel()
        elif self._take_waiting_back():
            pass
        elif self._face.editing:
            self._edit(False)
            self._fill_box(self._draft)
        else:
            self._box.focus()

    def action_again(self) -> None:
        """Answer the last prompt again; start an engine where there is none."""
        if self.session.phase is Phase.GONE:
            self._start_engine()
            self._face.all()
        elif self.session.starting:
            self._say("The model is still being loaded.")
        elif not self._ends_first("again"):
            request = self.session.ask_again()
            if request is None:
                self._say("There is nothing to answer again yet.")
            else:
                if self._conversation is not None and self.session.last_prompt is not None:
                    self._conversation.drop_last_turn()
                    self._conversation.add_user(self.session.last_prompt)
                self._generate(request)

    def action_edit(self) -> None:
        """Put the last prompt into the box; its turn stays until another prompt replaces it."""
        if self._ends_first("edit") or self._take_waiting_back():
            return
        prompt = self.session.last_prompt
        if prompt is None:
            self._say("There is no prompt to edit yet.")
        elif len(prompt) > _EDITABLE_CHARACTERS:
            self._say(f"The last prompt has {len(prompt):,} characters: too long to be edited here.", "warning")
        elif not self._face.editing:
            self._draft = self._box.text
            self._edit(True)
            self._fill_box(prompt)

    def action_clear(self) -> None:
        """Begin a new conversation."""
        if self._ends_first("clear"):
            return
        self._waiting_prompt = None
        self._edit(False)
        self.session.clear()
        if self._conversation is not None:
            self._conversation.clear()
        self._face.all()
