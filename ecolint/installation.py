"""What one command, file or table installs, and the package facts that follow from it.

`--pre`, a nightly index and the pins that need both are one cause with one mend, so they are
gathered first and judged together.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from ecolint.diagnostics import Edit, Span
from ecolint.dialects.packages import PRERELEASES_BY_MANUAL, TORCH
from ecolint.document import View
from ecolint.facts import Change, Channel, Editor, Package, Role, Set
from ecolint.toolchain import Index, Requirement
from ecolint.words import Word

_UNRELEASED = frozenset({Channel.NIGHTLY, Channel.CANDIDATE, Channel.DEVELOPMENT})
_BUILT = frozenset({Channel.SOURCE, Channel.PINNED_SOURCE})
_SWITCHES = 32
_HASHES = re.compile(r"\s--|\\?\r?\n")
# Names of files, groups and environments that nobody deploys.
_DEVELOPMENT = re.compile(
    r"(?:^|[-_.])(?:dev|develop|development|tests?|testing|docs?|lint|linting|ci|typing|types)"
    r"(?:[-_.]|$)",
    re.IGNORECASE,
)
# What may stand between two arguments, in a shell or in a list, without being a comment.
_GAP = re.compile(r"[\s\\^`]*|\s*,\s*|\s*\n\s*-[ \t]+")

Edits = tuple[Edit, ...] | None


@dataclass(frozen=True, slots=True)
class PackageEditor:
    """Moves a package to its released form, or its exact pin to another version.

    A local version such as `+cu128` is kept with a new pin, for it names a variant that the
    index is chosen by.
    """

    stable: Edits = None
    word: Word | None = None
    pin: tuple[int, int] | None = None

    def edits(self, *changes: Change) -> Edits:
        """The edits for `Set("channel", "stable")` and `Set("version", "…")`."""
        edits: list[Edit] = []
        for change in changes:
            made: Edits = None
            match change:
                case Set("channel", Channel.STABLE):
                    made = self.stable
                case Set("version", str() as version) if self.word and self.pin:
                    made = join([self.word.replace(version, *self.pin)])
            if not made:
                return None
            edits += made
        return tuple(edits)


@dataclass(frozen=True, slots=True)
class Asked:
    """A requirement of interest where it stands, and the edits that make it a release."""

    requirement: Requirement
    word: Word
    stable: Edits
    locked: bool = False

    @property
    def span(self) -> Span:
        """What a finding points at: the pin, the URL, or the name."""
        if self.requirement.end <= self.requirement.start:
            return self.word.span()
        return self.word.span(self.requirement.start, self.requirement.end)

    @property
    def specifier(self) -> str:
        """The requirement as written, without hashes."""
        return _HASHES.split(self.word.text, maxsplit=1)[0].strip()

    @property
    def pinned(self) -> bool:
        """Whether it is held to one released version, which no index can change."""
        return self.requirement.channel is Channel.STABLE and self.requirement.version is not None


@dataclass(frozen=True, slots=True)
class Route:
    """An index of unreleased builds, and the edits that leave it.

    `serves` names the packages that are taken from it; empty means all.
    """

    index: Index
    word: Word
    stable: Edits
    serves: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Switch:
    """An option that lets unreleased versions in, of one package (`name`) or of all."""

    span: Span
    text: str
    stable: Edits
    name: str = ""


@dataclass(slots=True)
class Installation:
    """Gathers what is asked for; `elsewhere` tells that other files ask for more.

    `apart` is for files, where each pin is a cause of its own: in a command they are one.
    """

    role: Role = Role.INFERENCE
    apart: bool = False
    elsewhere: bool = False
    asked: list[Asked] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)

    def ask(
        self, word: Word, requirement: Requirement | None, also: Edits = (), *, locked: bool = False
    ) -> None:
        """Add a requirement; `also` belongs to its mend, hashes (`locked`) rule one out."""
        if requirement is None:
            return
        mend = requirement.mend
        stable: Edits = None
        if mend is not None and also is not None and not locked:
            stable = join([word.replace(mend.content, mend.start, mend.end), *also])
        self.asked.append(Asked(requirement, word, stable, locked))

    def place(self, word: Word, requirement: Requirement, stable: Edits) -> None:
        """Add a requirement whose mend is not within its own characters."""
        self.asked.append(Asked(requirement, word, stable))

    def route(
        self,
        word: Word,
        index: Index | None,
        removal: Edits = None,
        serves: frozenset[str] = frozenset(),
    ) -> None:
        """Add an index; `removal` takes the whole option away where no release has its like."""
        if index is None:
            return
        stable = removal
        if index.mend is not None:
            mend = index.mend
            stable = join([word.replace(mend.content, mend.start, mend.end)])
        self.routes.append(Route(index, word, stable, serves))

    def allow(self, switch: Switch) -> None:
        """Add a switch; nobody writes more than a few, and each mend takes all of them back."""
        if len(self.switches) < _SWITCHES:
            self.switches.append(switch)

    @property
    def names(self) -> set[str]:
        """The packages of interest that are asked for."""
        return {each.requirement.name for each in self.asked}

    def packages(self) -> list[Package]:
        """The facts: one a cause, and one for each released version that is pinned."""
        routes = [route for route in self.routes if self._in_force(route)]
        loose = [each for each in self.asked if each.requirement.channel in _UNRELEASED]
        found = [self._fact(each) for each in self.asked if each.pinned]
        found += [self._fact(each) for each in self.asked if each.requirement.channel in _BUILT]
        if routes:
            brought = [each for each in loose if any(_serves(route, each) for route in routes)]
            found.append(self._routed(routes, brought))
            loose = [each for each in loose if each not in brought]
        elif not loose:
            found += self._switched()
        for some in [[each] for each in loose] if self.apart else [loose] if loose else []:
            names = {each.requirement.name for each in some}
            stable = self._together((each.stable for each in some), names)
            found.append(self._fact(some[0], PackageEditor(stable)))
        return found

    def _in_force(self, route: Route) -> bool:
        """Whether an index may decide a version: not where all it serves is pinned."""
        served = [each for each in self.asked if _serves(route, each)]
        return self.elsewhere or not served or not all(each.pinned for each in served)

    def _together(self, edits: Iterable[Edits], names: Container[str] = ()) -> Edits:
        """The edits of one mend, what takes back the switches of all or of `names` included."""
        merged: list[Edit] = []
        switches = [each for each in self.switches if not each.name or each.name in names]
        for some in (*edits, *(switch.stable for switch in switches)):
            if some is None:
                return None
            merged += some
        return tuple(dict.fromkeys(merged))

    def _fact(self, asked: Asked, editor: Editor | None = None) -> Package:
        requirement = asked.requirement
        if editor is None:
            pin = None if asked.locked else requirement.pin
            editor = PackageEditor(asked.stable, asked.word, pin)
        return Package(
            asked.span, requirement.name, asked.specifier, requirement.version,
            requirement.channel, requirement.source, self.role, editor,
        )  # fmt: skip

    def _routed(self, routes: Sequence[Route], brought: Sequence[Asked]) -> Package:
        """The fact of an index: told of the first package that it builds itself."""
        first = routes[0]
        index = first.index
        free = [
            each
            for each in (*brought, *self.asked)
            if not each.pinned and each.requirement.channel not in _BUILT
        ]
        own = [each for each in free if _builds(index, each.requirement.name)]
        stable = self._together(
            [*(route.stable for route in routes), *(each.stable for each in brought)],
            {each.requirement.name for each in free},
        )
        return Package(
            first.word.span(index.start, index.end),
            own[0].requirement.name if own else index.name, own[0].specifier if own else "",
            None, index.channel, first.word.text[index.start : index.end], self.role,
            PackageEditor(stable),
        )  # fmt: skip

    def _switched(self) -> list[Package]:
        """`--pre` alone, where it decides the version of a package that nothing pins."""
        free = {
            each.requirement.name: each
            for each in reversed(self.asked)
            if each.requirement.version is None and each.requirement.channel is Channel.STABLE
        }
        if self.names & PRERELEASES_BY_MANUAL:
            return []
        for switch in self.switches:
            first = next(reversed(free), "")
            asked = free.get(switch.name or first)
            if asked is not None:
                editor = PackageEditor(self._together((), {asked.requirement.name}))
                return [
                    Package(
                        switch.span, asked.requirement.name, asked.specifier, None,
                        Channel.CANDIDATE, switch.text, self.role, editor,
                    )
                ]  # fmt: skip
        return []


def _serves(route: Route, asked: Asked) -> bool:
    return not route.serves or asked.requirement.name in route.serves


def _builds(index: Index, name: str) -> bool:
    return name in TORCH if index.name in TORCH else name == index.name


def role_of(name: str) -> Role:
    """What a file, group or environment of that name is installed for."""
    return Role.TEST if _DEVELOPMENT.search(name) else Role.INFERENCE


def join(edits: Iterable[Edit | None]) -> Edits:
    """The edits as one tuple; None if any of them can't be made."""
    made = tuple(edits)
    return None if None in made else tuple(edit for edit in made if edit is not None)


def cut_words(words: Sequence[Word], first: int, last: int) -> Edits:
    """Remove the arguments `first` to `last` with the space before or behind them.

    None where something else stands there: a comment, or the words come from several places.
    """
    head, tail = words[first], words[last]
    if head.view is not tail.view or (first < last and tail.start < head.end):
        return None
    before = words[first - 1] if first else None
    after = words[last + 1] if last + 1 < len(words) else None
    if before is not None and _adjoin(before, head):
        return join([head.view.edit(before.end, tail.end, "")])
    if after is not None and _adjoin(tail, after):
        return join([head.view.edit(head.start, after.start, "")])
    return None


def _adjoin(left: Word, right: Word) -> bool:
    return (
        left.view is right.view
        and left.end <= right.start
        and _GAP.fullmatch(left.view.text, left.end, right.start) is not None
    )


def remove_line(view: View, start: int, end: int) -> Edits:
    """Remove a stretch with its line where it stands alone there, else just the stretch."""
    text = view.text
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if text[begin:start].strip() or text[end:stop].strip():
        while text[end : end + 1] in (" ", "\t"):
            end += 1
        return join([view.edit(start, end, "")])
    if stop < len(text) and view.offsets is None:
        return join([view.edit(begin, stop + 1, "")])
    if text[stop - 1 : stop] == "\r":
        stop -= 1
    if begin and text[begin - 1] == "\n":
        begin -= 2 if text[begin - 2 : begin] == "\r\n" else 1
    return join([view.edit(begin, stop, "")])
