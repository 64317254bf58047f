"""How a condition of a script or template turns out, as far as it can be told."""

from enum import Enum


class Outcome(Enum):
    """How a condition turns out.

    OPEN hangs on the machine (a file, a program's exit status), OPTIONAL on a variable.
    """

    TRUE = "true"
    FALSE = "false"
    OPEN = "open"
    OPTIONAL = "optional"


_OPPOSITE = {Outcome.TRUE: Outcome.FALSE, Outcome.FALSE: Outcome.TRUE}


def opposite(outcome: Outcome) -> Outcome:
    """How the negated condition turns out."""
    return _OPPOSITE.get(outcome, outcome)


def both(first: Outcome, second: Outcome) -> Outcome:
    """How two conditions turn out that must both hold."""
    for decisive in (Outcome.FALSE, Outcome.OPTIONAL, Outcome.OPEN):
        if decisive in (first, second):
            return decisive
    return Outcome.TRUE


def either(first: Outcome, second: Outcome) -> Outcome:
    """How two conditions turn out of which one must hold."""
    return opposite(both(opposite(first), opposite(second)))
