"""Command lines, wherever they are written: recognise the program, read its options.

Shell scripts, Dockerfiles, compose and Kubernetes files, Procfiles and argument lists in
Python all end here as `Word`s that know their places. `read_argv` takes one command,
`read_container` an image with its command, arguments and environment.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ecolint.diagnostics import Span
from ecolint.dialects.launchers import (
    BENCHMARK_NAMES,
    BY_NAME,
    CONTAINER_RUNNERS,
    CONTAINER_SHORT_WITH_VALUE,
    CONTAINER_SWITCHES,
    EVALUATION_NAMES,
    OWN_SCRIPT,
    PREFIXES,
    SAGEMAKER_VARIABLES,
    SCRIPT_STARTERS,
    TRAINING_NAMES,
    VLLM_FLAGS,
    WEBUI,
    WEBUI_COMPANIONS,
    Launcher,
    Runs,
)
from ecolint.dialects.machines import CLOUD_TOOLS
from ecolint.environment import (
    Environment,
    install_words,
    read_compile_switches,
    read_environment,
    variable,
)
from ecolint.facts import Fact, Role, Setting
from ecolint.flags import read_flags, tail
from ecolint.images import image_facts, image_launcher, reads_environment
from ecolint.launching import Launch, read_launch, read_machines
from ecolint.shellwords import word_view
from ecolint.words import Word

__all__ = ["image_facts", "read_argv", "read_container"]

_EMPTY: Environment = MappingProxyType({})
_PYTHON = re.compile(r"(?:python|pypy|py)[\d.]*(?:\.exe)?$")
_PIP = re.compile(r"pip[\d.]*(?:\.exe)?$")
_PIP_VARIABLE = re.compile(r"[\"']?[$%!]\{?(?:\w+_)?PIP3?(?:_\w+)?[}%!]?[\"']?", re.IGNORECASE)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
# These take a command as one last word.
_CARRIERS = frozenset({"eval", "ssh", "tmux", "screen", "su"})
_REFERENCE = re.compile(r"\$\((\w+)\)")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=")
_PYTHON_WITH_VALUE = frozenset({"-W", "-X"})
_DEPLOYED = frozenset({Role.INFERENCE, Role.SERVICE, Role.BATCH, Role.INTERACTIVE})
_INSTALLERS = {
    "uv": ("pip", "add", "tool", "sync"),
    "conda": ("install", "create", "update"),
    "mamba": ("install", "create", "update"),
    "micromamba": ("install", "create"),
    "poetry": ("add",),
    "pdm": ("add",),
    "pipx": ("install", "inject"),
    "pipenv": ("install",),
}
_MAX_UNWRAP = 24


def read_argv(
    words: Sequence[Word],
    role: Role,
    env: Environment = _EMPTY,
    *,
    depth: int = 0,
) -> list[Fact]:
    """The facts of one command.

    Args:
        words: its arguments, program first; those of one list must come from one view.
        role: what the surrounding file is for; a server or an evaluation says more itself.
        env: the environment variables that reach it.
        depth: how many shells this command stands in.
    """
    return _Command(tuple(words), role, dict(env), depth).read()


def read_container(
    command_words: Sequence[Word],
    args_words: Sequence[Word],
    env: Environment,
    image: str,
    role: Role,
) -> list[Fact]:
    """The facts of a container: its image, entry point, arguments and environment.

    Args:
        command_words: what replaces the image's entry point (`command` in Kubernetes,
            `entrypoint` in compose); empty where the image's own runs.
        args_words: the arguments (`args` in Kubernetes, `command` in compose).
        env: variables, each `literal` the value's own place if it may be rewritten.
        image: the reference as written; it decides whose flags bare arguments are.
        role: what the file is for.

    The items of a list can only be removed if their words come from a view that holds the
    list, such as the whole document.
    """
    facts = read_compile_switches(env, role)
    if any(name in env for name in SAGEMAKER_VARIABLES.values()):
        env = {**{name: env[own] for name, own in SAGEMAKER_VARIABLES.items() if own in env}, **env}
        image = image if "HF_MODEL_QUANTIZE" not in env else "text-generation-inference"
    command_words = [_refer(word, env) for word in command_words]
    args_words = [_refer(word, env) for word in args_words]
    words = (*command_words, *args_words)
    launcher, version = image_launcher(image)
    taken = False
    if words:
        command = _Command(words, role, dict(env), 0, version)
        facts += command.read()
        taken = command.recognised
        entry = None
        if not taken and args_words:
            flagged = args_words[0].text.startswith("-")
            entry = launcher if flagged or not command_words else None
            entry = entry or _by_flags(args_words)
        if entry is not None:
            facts += _launch(entry, words, len(command_words), role, env, version, at=0)
            taken = True
    elif launcher is not None and launcher.engine is not None:
        options = [name for name in launcher.engine.options if name.upper() in env]
        if reads_environment(launcher, image) and options:
            facts += _environment_launch(launcher, env, role, version)
            taken = True
    if not taken:
        facts += read_environment(env, role)
    return facts


def _refer(word: Word, env: Environment) -> Word:
    """The word with the variables in it that Kubernetes puts in place: `$(NAME)`."""
    if "$(" not in word.text or " " in word.text:
        return word
    known = word.known
    text = word.text
    for found in _REFERENCE.finditer(word.text):
        setting = env.get(found.group(1), Setting())
        known = known and setting.known
        text = text.replace(found.group(), str(setting.value) if setting.known else "")
    return replace(word, text=text, known=known, exact=False)


def _environment_launch(
    launcher: Launcher, env: Environment, role: Role, version: str | None
) -> list[Fact]:
    if "MODEL_NAME" in env and "MODEL" not in env:
        env = {**env, "MODEL": env["MODEL_NAME"]}  # as RunPod's worker calls it
    span = next((setting.span for setting in env.values() if setting.span), Span(0, 0))
    return read_launch(Launch(launcher, (), 0, span, _role(launcher, role), env, version))


def _by_flags(words: Sequence[Word]) -> Launcher | None:
    """vLLM's launcher, where two flags are surely its own."""
    flags, _ = read_flags(words, 0, {})
    serve = BY_NAME["vllm serve"]
    return serve if len(VLLM_FLAGS & flags.keys()) >= 2 else None


def _launch(
    launcher: Launcher,
    words: Sequence[Word],
    start: int,
    role: Role,
    env: Environment,
    version: str | None = None,
    *,
    at: int = 0,
) -> list[Fact]:
    head, last = words[at], words[max(start - 1, at)]
    span = head.view.span(head.start, head.end)
    if last.view is head.view and "\n" not in head.view.text[head.start : last.end]:
        span = head.view.span(head.start, max(head.end, last.end))
    seen = env if launcher.spelled == "text-generation-launcher" else _EMPTY
    return read_launch(Launch(launcher, words, start, span, _role(launcher, role), seen, version))


def _role(launcher: Launcher, role: Role) -> Role:
    """The launcher's own role, unless the file is more than deployment code."""
    if role in _DEPLOYED and launcher.role is not Role.INFERENCE:
        return launcher.role
    return role


class _Command:
    """One command line, its prefixes taken off word by word; `at` is the program's word."""

    def __init__(
        self,
        words: Sequence[Word],
        role: Role,
        env: dict[str, Setting[Any]],
        depth: int,
        version: str | None = None,
    ) -> None:
        self.words = words
        self.role = role
        self.env = env
        self.depth = depth
        self.version = version
        self.at = 0
        self.facts: list[Fact] = []
        self.recognised = False

    def read(self) -> list[Fact]:
        for _ in range(_MAX_UNWRAP):
            if self.at >= len(self.words) or not self._step():
                break
        return self.facts

    def _text(self, index: int) -> str:
        return self.words[index].text if index < len(self.words) else ""

    def _step(self) -> bool:
        """Act on the program at `at`; True when it only stood before the real one."""
        program = _program(self._text(self.at))
        two = f"{program} {self._text(self.at + 1)}"
        if program == "env":
            return self._environment()
        if _VARIABLE.match(self._text(self.at)) and self.words[self.at].known:
            return self._environment(skip=0)
        if program in _CARRIERS and " " in self.words[-1].text.strip():
            self._script(self.words[-1])
            return False
        if two in PREFIXES or program in PREFIXES:
            return self._prefix(two if two in PREFIXES else program)
        if program in _SHELLS:
            return self._shell()
        if program in CONTAINER_RUNNERS:
            return self._container()
        if program in CLOUD_TOOLS:
            self.facts += read_machines(self.words, self.at + 1, self.role)
            return False
        if two in SCRIPT_STARTERS or program in SCRIPT_STARTERS:
            return self._started()
        if self._install(program):
            return False
        if _PYTHON.match(program) or (
            not self.words[self.at].known and self._text(self.at + 1) == "-m"
        ):
            return self._python()
        self._program(program)
        return False

    def _environment(self, skip: int = 1) -> bool:
        index = self.at + skip
        given: dict[str, Setting[Any]] = {}
        while index < len(self.words):
            word = self.words[index]
            found = _VARIABLE.match(word.text)
            if found:
                value = tail(word, found.end())
                span = word.view.span(word.start, word.end)
                given[found.group(1)] = variable(found.group(1), value, span)
            elif not word.text.startswith("-"):
                break
            elif word.text in ("-u", "-C", "-S"):
                index += 1
            index += 1
        self.env.update(given)
        self.facts += read_compile_switches(given, self.role)
        self.at = index
        return True

    def _prefix(self, name: str) -> bool:
        with_value, bare = PREFIXES[name]
        index = self.at + 1 + name.count(" ")
        while index < len(self.words):
            text = self._text(index)
            if text == "--":
                index += 1
                break
            if text.startswith("-"):
                index += 2 if text in with_value else 1
            elif bare and not _VARIABLE.match(text):
                bare -= 1
                index += 1
            else:
                break
        self.at = index
        return True

    def _shell(self) -> bool:
        """`bash -lc "…"`: the script is one word."""
        for index in range(self.at + 1, min(self.at + 5, len(self.words))):
            text = self._text(index)
            if re.fullmatch(r"-[a-z]*c", text) and index + 1 < len(self.words):
                self._script(self.words[index + 1])
                return False
            if not text.startswith("-"):
                break
        return False

    def _script(self, word: Word) -> None:
        from ecolint.shell import MAX_SHELLS, read_script

        self.recognised = True
        if self.depth < MAX_SHELLS and word.text:
            self.facts += read_script(
                word_view(word), self.role, env=self.env, depth=self.depth + 1
            )

    def _python(self) -> bool:
        index = self.at + 1
        while index < len(self.words):
            text = self._text(index)
            if text == "-m":
                self.at = index + 1
                program = self._text(self.at)
                if program in SCRIPT_STARTERS:
                    return self._started()
                if not self._install(program):
                    self._program(program)
                    if not self.recognised:
                        self._own_script()
                return False
            if text == "-c":
                self._inline_python(index + 1)
                return False
            if not text.startswith("-"):
                self.at = index
                self._own_script()
                return False
            index += 2 if text in _PYTHON_WITH_VALUE else 1
        return False

    def _inline_python(self, index: int) -> None:
        from ecolint.shell import read_python

        if index < len(self.words) and self.words[index].exact:
            word = self.words[index]
            stop = word.inner + len(word.text)
            self.facts += read_python(word.view.part(word.inner, stop, writable=False))

    def _started(self) -> bool:
        """`accelerate launch … script.py`: the script is the first word that looks like one."""
        for index in range(self.at + 1, len(self.words)):
            text = self._text(index)
            if text in ("-m", "--module"):
                self.at = index + 1
                self._program(self._text(self.at))
                return False
            if text.endswith(".py"):
                self.at = index
                self._own_script()
                return False
        return False

    def _own_script(self) -> None:
        """A script or module that we don't know, unless it trains."""
        path = self._text(self.at)
        name = _program(path)
        if name in BY_NAME:
            self._program(name)
            return
        lowered = name.lower()
        if any(part in lowered for part in TRAINING_NAMES):
            return
        role = self.role
        if role in _DEPLOYED:
            if any(part in lowered for part in EVALUATION_NAMES):
                role = Role.EVALUATION
            elif any(part in lowered for part in BENCHMARK_NAMES):
                role = Role.BENCHMARK
            elif lowered.startswith("test_") or lowered.endswith("_test.py"):
                role = Role.TEST
        launcher = OWN_SCRIPT
        if name == "server.py":
            flags, _ = read_flags(self.words, self.at + 1, {})
            if WEBUI_COMPANIONS & flags.keys():
                launcher = WEBUI
        self.facts += _launch(launcher, self.words, self.at + 1, role, self.env, at=self.at)

    def _program(self, program: str) -> None:
        """A launcher under its own name, or a script that runs by itself."""
        for width in (3, 2, 1):
            if self.at + width > len(self.words):
                continue
            rest = [self._text(self.at + n) for n in range(1, width)]
            launcher = BY_NAME.get(" ".join([program, *rest]))
            if launcher is not None:
                self._recognise(launcher, self.at + width)
                return
        if program.startswith("fastchat.serve"):
            self._recognise(BY_NAME["fastchat.serve"], self.at + 1)
        elif program.endswith(".py") and program not in BY_NAME:
            self._own_script()

    def _recognise(self, launcher: Launcher, start: int) -> None:
        self.recognised = True
        if launcher.runs is not Runs.NOTHING:
            self.facts += _launch(
                launcher, self.words, start, self.role, self.env, self.version, at=self.at
            )

    def _install(self, program: str) -> bool:
        following = self._text(self.at + 1)
        tool = "pip" if _PIP.match(program) or self._names_pip() else program
        if tool != "pip" and following not in _INSTALLERS.get(program, ()):
            return False
        from ecolint.pip import read_install

        self.recognised = True
        words = self.words[self.at :]
        extra = install_words(tool, self.env, words[0].view.document)
        if tool == "pip" and program != tool and not _PIP.match(program):
            words = (replace(words[0], text="pip"), *words[1:])
        self.facts += read_install([*words, *extra], self.role)
        return True

    def _names_pip(self) -> bool:
        """Whether the program is a variable that can only hold pip (`%PIP% install …`)."""
        word = self.words[self.at]
        written = word.view.text[word.start : word.end]
        return not word.known and _PIP_VARIABLE.fullmatch(written) is not None

    # --- containers ----------------------------------------------------------------------

    def _container(self) -> bool:
        """`docker run [options] image [arguments]`."""
        index = self.at + 1
        if self._text(index) == "container":
            index += 1
        if self._text(index) not in ("run", "create"):
            return False
        index += 1
        env: dict[str, Setting[Any]] = {}
        entry: list[Word] = []
        while index < len(self.words):
            word = self.words[index]
            text = word.text
            if not text.startswith("-"):
                if word.known:
                    break
                index += 1  # an unknown word among the options: `$DOCKER_OPTS`
                continue
            name, value, index = self._container_option(index)
            if value is not None and name in ("-e", "--env"):
                _put_variable(env, value)
            elif value is not None and name == "--entrypoint":
                entry = [value]
        if index >= len(self.words):
            return False
        self.recognised = True
        image = self.words[index]
        self.facts += image_facts(image, self.role)
        self.facts += read_container(entry, self.words[index + 1 :], env, image.text, self.role)
        return False

    def _container_option(self, index: int) -> tuple[str, Word | None, int]:
        """An option's name, its value if it has one, and the index behind both."""
        word = self.words[index]
        text = word.text
        following = self.words[index + 1] if index + 1 < len(self.words) else None
        if text.startswith("--"):
            name, equals, _ = text.partition("=")
            if equals:
                return name, tail(word, len(name) + 1), index + 1
            if name in CONTAINER_SWITCHES:
                return name, None, index + 1
            return name, following, index + 2
        for offset, letter in enumerate(text[1:], 1):
            if letter in CONTAINER_SHORT_WITH_VALUE:
                if offset + 1 < len(text):
                    return f"-{letter}", tail(word, offset + 1), index + 1
                return f"-{letter}", following, index + 2
        return text, None, index + 1


def _put_variable(env: dict[str, Setting[Any]], word: Word) -> None:
    found = _VARIABLE.match(word.text)
    if found:
        value = tail(word, found.end())
        span = word.view.span(word.start, word.end)
        env[found.group(1)] = variable(found.group(1), value, span)


def _program(text: str) -> str:
    """The program's own name: no path, no `.exe`."""
    return re.split(r"[/\\]", text)[-1].removesuffix(".exe")
