"""The words for how far a card has come, with the tone and the text key of each. One table for view and components."""

from typing import Final

from demo_app.theme import Tone

PHASES: Final[dict[str, Tone]] = {
    # a call
    "streaming": Tone.INFO,  # its arguments arrive
    "running": Tone.INFO,  # the agent has it, or the browser runs it
    "waiting": Tone.MUTE,  # complete, and its run has not closed yet
    "asking": Tone.WARN,  # the user is asked
    "open": Tone.WARN,  # nothing runs by itself: the user has to say what became of it
    "interrupted": Tone.WARN,  # the agent asks about it
    "done": Tone.OK,
    "failed": Tone.DANGER,
    "declined": Tone.MUTE,
    "refused": Tone.DANGER,
    "timed_out": Tone.DANGER,
    "cancelled": Tone.MUTE,
    "effect_unknown": Tone.WARN,
    "abandoned": Tone.MUTE,
    "unanswered": Tone.MUTE,  # its run ended without an answer
    "unfinished": Tone.MUTE,  # its run ended in the middle of its arguments
    "stray": Tone.MUTE,  # a result without its call
    # an activity, beside those above
    "stopped": Tone.MUTE,
    # an interrupt
    "expired": Tone.DANGER,
    "resolved": Tone.OK,
    "approved": Tone.OK,
    # the end of a run, beside those above
    "completed": Tone.OK,
    "truncated": Tone.WARN,
    "rejected": Tone.DANGER,
    "unreachable": Tone.DANGER,
    "restarted": Tone.WARN,
    # a subagent, beside those above
    "finished": Tone.OK,
    "suspended": Tone.WARN,
    "": Tone.MUTE,
}
