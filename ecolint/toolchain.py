"""Where a package comes from: released, nightly, a candidate, a branch. Pure classification.

Positions are characters of the text that was given. What PEP 440 says about a version is
asked of `packaging`; requirement lines are split here, because its parser keeps no places.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ecolint.dialects.packages import (
    ALIASES,
    CANDIDATES_ARE_RELEASES,
    FORKED,
    PACKAGES,
    REPOSITORIES,
    TORCH,
)
from ecolint.facts import Channel

_SEPARATORS = re.compile(r"[-_.]+")
_NIGHTLY = "-nightly"


@dataclass(frozen=True, slots=True)
class Mend:
    """Characters `start` to `end` of a text, and what to put there."""

    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """One package of interest that a text asks for.

    `start` and `end` hold what decides the channel: the pin or the URL. `version` is set by
    an exact pin only, and `pin` is the stretch of its release number. `mend` makes the
    requirement a released one: it drops the pin, for whether that very version was ever
    released is not known here, while some release always is.
    """

    name: str
    channel: Channel
    start: int
    end: int
    version: str | None = None
    source: str = ""
    pin: tuple[int, int] | None = None
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """An index or conda channel of unreleased builds, the package it is known for, its mend.

    `mend` is None where no released counterpart has an address of the same form.
    """

    channel: Channel
    name: str
    start: int
    end: int
    mend: Mend | None


# --- names ------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def package_of(name: str) -> str | None:
    """The canonical name of a package of interest; None for any other."""
    canonical = _SEPARATORS.sub("-", name).lower()
    canonical = ALIASES.get(canonical, canonical).removesuffix(_NIGHTLY)
    return canonical if canonical in PACKAGES else None


def is_nightly_name(name: str) -> bool:
    """Whether a distribution's name says that it is the nightly build of something."""
    return _SEPARATORS.sub("-", name).lower().endswith(_NIGHTLY)


# --- versions ---------------------------------------------------------------------------

_UNRELEASED = re.compile(r"[a-z]", re.IGNORECASE)
_COMMIT = re.compile(r"(?:git|g)[0-9a-f]{6,}\b", re.IGNORECASE)
_DATED = re.compile(r"\.?dev\d{8}", re.IGNORECASE)


@lru_cache(maxsize=1024)
def classify_version(name: str, version: str) -> Channel:
    """The channel that an exact version of a package tells by itself.

    An alpha of the PyTorch family is a vendor's container build (`2.5.0a0+….nv24.09`), and
    local labels such as `+cu128` only name a variant; both are stable.
    """
    public, _, local = version.partition("+")
    if "nv" in local:
        return Channel.STABLE
    if _COMMIT.match(local):
        return Channel.DEVELOPMENT
    if not _UNRELEASED.search(public.lstrip("vV")):
        return Channel.STABLE
    from packaging.version import InvalidVersion, Version

    try:
        parsed = Version(version)
    except InvalidVersion:
        return Channel.STABLE
    if parsed.is_devrelease:
        return Channel.DEVELOPMENT
    if parsed.pre is None or name in CANDIDATES_ARE_RELEASES:
        return Channel.STABLE
    vendor = name in TORCH and parsed.pre[0] != "rc"
    return Channel.STABLE if vendor else Channel.CANDIDATE


# --- indexes and channels ---------------------------------------------------------------

_INDEXES = (
    (
        re.compile(
            r"(https?://(?:download(?:-r2)?\.pytorch\.org/whl|[\w.-]+/pytorch-wheels))"
            r"/(nightly|test)(?:/([^/\s]+))?(?:/\S*?\.html)?(?=/|\s|$)",
            re.IGNORECASE,
        ),
        "torch",
    ),
    (
        re.compile(r"https?://wheels\.vllm\.ai/(nightly|[0-9a-f]{40})(?:/[^\s]*)?", re.IGNORECASE),
        "vllm",
    ),
    (
        re.compile(r"https?://flashinfer\.ai/whl/(nightly)[^\s]*", re.IGNORECASE),
        "flashinfer-python",
    ),
    (
        re.compile(
            r"https?://github\.com/[\w.-]+/bitsandbytes/releases/\w+/(continuous-release)[^\s]*",
            re.IGNORECASE,
        ),
        "bitsandbytes",
    ),
    (re.compile(r"https?://[^\s]*/_packaging/(Triton-Nightly)/[^\s]*", re.IGNORECASE), "triton"),
    (re.compile(r"https?://rocm\.(nightlies)\.amd\.com/[^\s]*", re.IGNORECASE), "torch"),
)
_VARIANT = re.compile(r"cpu|xpu|cu\d{2,3}|rocm\d+(?:\.\d+)*", re.IGNORECASE)
_CHANNEL = re.compile(
    r"(?:https?://conda\.anaconda\.org/)?(?:"
    r"(?P<pytorch>pytorch-(?:nightly|test))(?:/label/\w+)?"
    r"|(?P<owner>conda-forge|pytorch|xformers)/label/(?P<label>\w*(?:rc|dev|nightly|test)))"
    r"(?:/(?:linux|osx|win|noarch)[\w-]*)?/?$",
    re.IGNORECASE,
)


def classify_index(url: str) -> Index | None:
    """The unreleased builds that a package index serves; None for any other index."""
    for pattern, name in _INDEXES:
        found = pattern.search(url)
        if found is None:
            continue
        start, end = found.span()
        if found.group(1).lower().endswith(("whl", "pytorch-wheels")):
            candidate = found.group(2).lower() == "test"
            channel = Channel.CANDIDATE if candidate else Channel.NIGHTLY
            return Index(channel, name, start, end, _released_index(found))
        return Index(Channel.NIGHTLY, name, start, end, None)
    return None


def _released_index(found: re.Match[str]) -> Mend | None:
    """`…/whl/nightly/cu128` to `…/whl/cu128`; None where releases have no such variant."""
    variant = found.group(3)
    if found.group().endswith(".html"):
        return None  # a page for --find-links, which releases have elsewhere
    if variant is None:
        return Mend(found.start(), found.end(), found.group(1))
    if _VARIANT.fullmatch(variant) is None:
        return None
    return Mend(found.start(), found.end(), f"{found.group(1)}/{variant}")


def classify_channel(channel: str) -> Index | None:
    """The unreleased builds that a conda channel serves; None for any other channel."""
    found = _CHANNEL.match(channel)
    if found is None:
        return None
    if found.group("pytorch"):
        start, end = found.span("pytorch")
        candidate = found.group("pytorch").lower().endswith("test")
        kind = Channel.CANDIDATE if candidate else Channel.NIGHTLY
        return Index(kind, "torch", start, end, Mend(start, end, "pytorch"))
    label = found.group("label").lower()
    owner = found.group("owner")
    if owner.lower() == "conda-forge" and not label.startswith(("pytorch", "vllm")):
        return None  # candidates of a program that is none of ours
    kind = Channel.CANDIDATE if label.endswith(("rc", "test")) else Channel.NIGHTLY
    name = "xformers" if owner.lower() == "xformers" else "torch"
    start, end = found.start("owner"), found.end("label")
    return Index(kind, name, start, end, Mend(start, end, owner))


# --- requirements -----------------------------------------------------------------------

_NAME = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\s*(\[[^\]]*\]))?(?=[\s=<>!~;,(@#]|$)"
)
_DIRECT = re.compile(r"\s*(?:(?:git|hg|svn|bzr)\+|git@|https?://|file:)", re.IGNORECASE)
_AT = re.compile(r"\s*@\s*")
_ADDRESS = re.compile(r"[^\s'\"]+")
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|=|\^|~)?\s*([^\s,;()#|=<>!~^]+)")
_SPECIFIER_END = re.compile(r";|\s#|\s--")
_FINAL = re.compile(r"v?\d+(?:\.\d+)*(?:\.post\d+)?(?=\+|$)")
_EXACT = frozenset({"", "=", "==", "==="})
_LOWER = frozenset({">=", ">", "~=", "^", "~"})


def read_requirement(text: str) -> Requirement | None:
    """What a requirement as pip, uv, poetry or pdm take it asks for; None if not of interest.

    Reads `torch==2.6.0`, `torch @ URL`, a bare URL, `torch@^2.6`, a marker behind any of them.
    """
    if _DIRECT.match(text):
        return _from_address(text, text.index(text.strip()[0]), "", "", 0)
    head = _NAME.match(text)
    if head is None:
        return None
    written, extras = head.group(1), head.group(2) or ""
    at = _AT.match(text, head.end())
    if at and _DIRECT.match(text, at.end()):
        return _from_address(text, at.end(), written, extras, head.start(1))
    name = package_of(written)
    if name is None:
        return None
    end = _SPECIFIER_END.search(text, head.end())
    begin = at.end() if at else head.end()
    found = _read_clauses(name, text, begin, end.start() if end else len(text), head.end())
    if not is_nightly_name(written):
        return found
    stop = found.mend.end if found.mend else max(found.end, head.end())
    mend = Mend(head.start(1), stop, name + extras)
    return Requirement(
        name, Channel.NIGHTLY, head.start(1), head.end(1), None, "", None, mend
    )  # fmt: skip


def read_constraint(name: str, text: str) -> Requirement | None:
    """What a version given apart from its package's name asks for (`torch = "^2.6"`)."""
    package = package_of(name)
    if package is None:
        return None
    found = _read_clauses(package, text, 0, len(text), 0)
    if found.mend is None or found.mend.content or found.mend.end < len(text):
        return found
    any_release = Mend(0, len(text), "*")
    return Requirement(
        package, found.channel, found.start, found.end, found.version, "", found.pin, any_release
    )


def _read_clauses(name: str, text: str, begin: int, end: int, head: int) -> Requirement:
    """A requirement by its version clauses; `head` is where the name ends."""
    clauses = list(_CLAUSE.finditer(text, begin, end))
    bad = [clause for clause in clauses if _unreleased(name, clause) is not Channel.STABLE]
    exact = next((clause for clause in clauses if _is_exact(clause)), None)
    if bad:
        first, last = clauses[0].start(), clauses[-1].end()
        kept = ",".join(clause.group() for clause in clauses if clause not in bad)
        opened = text.rfind("(", head, first)
        if not kept:
            first = head
            last = text.find(")", last, end) + 1 if opened >= 0 else last
        channel = _unreleased(name, bad[0])
        pinned = exact.group(2) if exact in bad and exact is not None else None
        return Requirement(
            name, channel, bad[0].start(), bad[0].end(), pinned, "", None,
            Mend(first, last, kept) if last > 0 else None,
        )  # fmt: skip
    if exact is None:
        return Requirement(name, Channel.STABLE, begin, begin)
    version = exact.group(2)
    release = _FINAL.match(version)
    pin = (exact.start(2), exact.start(2) + release.end()) if release else None
    return Requirement(name, Channel.STABLE, exact.start(), exact.end(), version, "", pin)


def _is_exact(clause: re.Match[str]) -> bool:
    return (clause.group(1) or "") in _EXACT and clause.group(2)[0].isdigit() and (
        "*" not in clause.group(2)
    )  # fmt: skip


def _unreleased(name: str, clause: re.Match[str]) -> Channel:
    """The channel that one clause of a specifier demands.

    Only a dated build makes a lower bound a nightly one: `>=4.50.0.dev0` is how libraries
    write "4.50 or what comes before it".
    """
    operator, version = clause.group(1) or "", clause.group(2)
    if operator in _EXACT and version[0].isdigit():
        return classify_version(name, version)
    if operator in _LOWER and _DATED.search(version):
        return classify_version(name, version)
    return Channel.STABLE


# --- addresses --------------------------------------------------------------------------

_REPOSITORY = re.compile(
    r"(?:git\+)?(?:\w+://)?(?:[^@/\s]*@)?[\w.-]+(?::\d+(?=/))?[:/]"
    r"(?P<path>(?:[^/@#?\s]+/)*)(?P<repo>[^/@#?\s]+?)(?:\.git)?/?(?:@(?P<ref>[^#\s]+))?"
    r"(?:#(?P<fragment>\S*))?$",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(
    r"https?://(?:codeload\.)?github\.com/(?P<path>[^/\s]+/)(?P<repo>[^/\s]+)/"
    r"(?:archive|zipball|tarball|tar\.gz|zip)/(?P<ref>[^#\s]+?)(?:\.zip|\.tar\.gz|\.tgz)?"
    r"(?:#(?P<fragment>\S*))?$",
    re.IGNORECASE,
)
_EGG = re.compile(r"(?:^|&)egg=([A-Za-z0-9._-]+)((?:\[|%5B)[^&]*)?", re.IGNORECASE)
_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_TAG = re.compile(r"(?:refs/tags/.+|(?:release[-_])?v?\d+(?:\.\d+)+(?:[-._+]?\w+)*)", re.IGNORECASE)
_RELEASE_TAG = re.compile(r"(?:refs/tags/)?v?(\d+(?:\.\d+)+(?:\.post\d+)?)")
_FILE = re.compile(r"([A-Za-z0-9._]+)-(\d[^-]*?)(?:-[^/]*\.whl|\.tar\.gz|\.zip)$", re.IGNORECASE)


def _from_address(text: str, at: int, written: str, extras: str, begin: int) -> Requirement | None:
    """The package behind a URL at `at`, whose requirement starts at `begin`."""
    found = _ADDRESS.match(text, at)
    if found is None or (written and package_of(written) is None):
        return None
    address, end = found.group(), found.end()
    repository = _ARCHIVE.match(address)
    if repository is None and address.lower().startswith(("git+", "git@")):
        repository = _REPOSITORY.match(address)
    if repository is not None:
        verdict = classify_repository(
            repository.group("path") + repository.group("repo"), repository.group("ref") or "",
            written or _egg(repository.group("fragment") or "")[0],
        )  # fmt: skip
        extras = extras or _egg(repository.group("fragment") or "")[1]
    else:
        verdict = _from_file(address, written)
    if verdict is None:
        return None
    name, channel, version, mendable = verdict
    released = channel is Channel.PINNED_SOURCE and version is not None
    content = f"{written or name}{extras}" + (f"=={version}" if released else "")
    mend = Mend(begin, end, content) if mendable else None
    return Requirement(name, channel, at, end, version, address, None, mend)


def _egg(fragment: str) -> tuple[str, str]:
    found = _EGG.search(fragment)
    if found is None:
        return "", ""
    extras = (found.group(2) or "").replace("%5B", "[").replace("%5D", "]")
    return found.group(1), extras


def classify_repository(
    path: str, ref: str, written: str = ""
) -> tuple[str, Channel, str | None, bool] | None:
    """Name, channel, version (of a release's tag) and whether the project publishes it.

    `path` is `owner/repository`; a fork counts by its repository's name, but no release has
    what it changed. None for other projects, or where the revision can't be told.
    """
    owner, _, repository = path.lower().removesuffix(".git").rpartition("/")
    path = f"{owner.rpartition('/')[2]}/{repository}"
    name = package_of(written) if written else REPOSITORIES.get(path) or FORKED.get(repository)
    if name is None or any(mark in ref for mark in "${}%"):
        return None
    own = path in REPOSITORIES
    ref = ref.partition("?")[0]
    if ref.startswith("refs/heads/") or not ref:
        return name, Channel.SOURCE, None, own
    release = _RELEASE_TAG.fullmatch(ref)
    if release or _TAG.fullmatch(ref) or _SHA.fullmatch(ref):
        version = release.group(1) if release else None
        return name, Channel.PINNED_SOURCE, version, own
    return name, Channel.SOURCE, None, own


def _from_file(address: str, written: str) -> tuple[str, Channel, str | None, bool] | None:
    from urllib.parse import unquote, urlsplit

    try:
        found = _FILE.match(unquote(urlsplit(address).path).rpartition("/")[2])
    except ValueError:
        return None
    index = classify_index(address)
    named = written or (found.group(1) if found else "")
    name = package_of(named) if named else None
    if name is None:
        return None
    if index is not None:
        return name, index.channel, None, True
    if found is None:
        return None
    channel = classify_version(name, found.group(2))
    return name, channel, found.group(2), channel is not Channel.STABLE


# --- conda ------------------------------------------------------------------------------

_CONDA = re.compile(
    r"\s*(?:(?P<channel>[^\s:]+(?:://[^\s:]+)?)::)?(?P<name>[A-Za-z0-9._-]+)"
    r"(?P<rest>\s*[=<>!~].*|\s+[\d].*)?$"
)
_CONDA_EXACT = re.compile(r"\s*={0,2}\s*(\d[^\s=,|*]*)(=\S*|\s+\S+)?\s*$")


def read_conda(text: str) -> Requirement | None:
    """What a conda match specification asks for: `pytorch-nightly::pytorch=2.9.0=*cuda*`."""
    found = _CONDA.match(text)
    name = package_of(found.group("name")) if found else None
    if found is None or name is None:
        return None
    channel = classify_channel(found.group("channel") or "")
    if channel is not None:
        return Requirement(
            name, channel.channel, channel.start, channel.end, None,
            found.group("channel"), None, channel.mend,
        )  # fmt: skip
    exact = _CONDA_EXACT.match(found.group("rest") or "")
    if exact is None:
        return Requirement(name, Channel.STABLE, found.start("name"), found.end("name"))
    base = found.start("rest")
    version = exact.group(1)
    start, end = base + exact.start(1), base + exact.end(1)
    kind = classify_version(name, version)
    if kind is not Channel.STABLE:
        mend = Mend(found.end("name"), len(text.rstrip()), "")
        return Requirement(name, kind, base, end, version, "", None, mend)
    whole = version if version.count(".") >= 2 else None  # `=2.5` means any 2.5.x
    return Requirement(name, kind, base, end, whole, "", (start, end) if whole else None)


# --- images -----------------------------------------------------------------------------

_ENGINES = re.compile(
    r"vllm|sglang|torch|text-generation-inference|lmdeploy|transformers|bitsandbytes|tritonserver"
)
_WORD = re.compile(r"[a-z0-9]+")
_DEV_TAG = re.compile(r"\.dev\d+|(?:^|[-_.])dev(?:$|[-_.])")


def classify_image(ref: str) -> Channel | None:
    """IMAGE for a container image built from unreleased code of ours; None for any other.

    NVIDIA's own registry is left out: its images hold alphas by design, tested as releases.
    """
    ref = ref.strip().lower().partition("@")[0]
    path, _, name = ref.rpartition("/")
    name, _, tag = name.partition(":")
    if path.startswith("nvcr.io") or not _ENGINES.search(f"{path.rpartition('/')[2]}/{name}"):
        return None
    if "manylinux" in name:
        return None  # compilers, no packages
    if "nightly" in _WORD.findall(name) or "nightly" in _WORD.findall(tag):
        return Channel.IMAGE
    if name in ("vllm-dev", "vllm-ci-postmerge-repo", "sgl-dev"):
        return Channel.IMAGE
    if name == "text-generation-inference" and (tag == "main" or tag.startswith("sha-")):
        return Channel.IMAGE
    return Channel.IMAGE if _DEV_TAG.search(tag) else None
