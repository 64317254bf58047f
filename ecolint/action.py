"""What a run does about the findings of each file."""

from enum import Enum


class Action(Enum):
    """Report them, mend them, show the mending, or silence them with comments."""

    CHECK = "check"
    FIX = "fix"
    DIFF = "diff"
    SILENCE = "silence"
