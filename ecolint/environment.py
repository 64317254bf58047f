"""Environment variables as options: what their names alone decide.

A variable is a `Setting`: `span` the place to point at, `literal` the characters of the value
inside its quotes, given only where they may be rewritten.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ecolint.assemble import bitsandbytes
from ecolint.diagnostics import Span
from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS
from ecolint.dialects.engines import TGI
from ecolint.dialects.launchers import (
    COMPILE_SWITCHES,
    INSTALL_VARIABLES,
    MODEL_VARIABLES,
    OWN_SCRIPT,
    SAGEMAKER_VARIABLES,
)
from ecolint.document import Document, whole
from ecolint.facts import Compilation, CompileState, Fact, Role, Setting, State, Via
from ecolint.flags import FlagEditor, Given
from ecolint.launching import Launch, load_facts, typed_setting
from ecolint.words import Word

Environment = Mapping[str, Setting[Any]]

# Every variable that some reader asks for; a script exports many others.
VARIABLES = frozenset(
    {
        *COMPILE_SWITCHES,
        *MODEL_VARIABLES,
        *SAGEMAKER_VARIABLES,
        *SAGEMAKER_VARIABLES.values(),
        *(name for table in INSTALL_VARIABLES.values() for name in table),
        *(option.upper() for option in TGI.options),
        *(option.upper() for option in CONFIG_OPTIONS),
        *CONFIG_OPTIONS,
    }
)


def read_environment(env: Environment, role: Role) -> list[Fact]:
    """What environment variables alone decide: options under bitsandbytes' own names.

    `LOAD_IN_8BIT=true` says so whatever reads it; its threshold can't be set from here.
    """
    options: dict[str, Setting[Any]] = {}
    for name in CONFIG_OPTIONS:
        for spelling in (name.upper(), name):
            if spelling in env:
                options[name] = _true_or_false(typed_setting(env[spelling]))
    wrapper = OWN_SCRIPT.wrapper
    first = next((setting.span for setting in options.values() if setting.span), None)
    if wrapper is None or first is None:
        return []
    on = tuple(
        Given(setting, None, str(env[setting.name or name.upper()].value))
        for name, setting in options.items()
        if name in ("load_in_8bit", "load_in_4bit") and setting.is_(True)
    )
    editor = FlagEditor({"quantization": on})
    quantization = bitsandbytes(
        options, wrapper, span=first, spelled=on[0].setting.name if on else "", editor=editor,
        role=role,
    )  # fmt: skip
    if quantization is None:
        return []
    launch = Launch(OWN_SCRIPT, (), 0, first, role, env)
    model = next((env[name] for name in MODEL_VARIABLES if name in env), None)
    return load_facts(launch, quantization, {"model": model} if model else {}, editor)


def read_compile_switches(env: Environment, role: Role) -> list[Fact]:
    """Environment variables that switch compilation off."""
    found: list[Fact] = []
    for name in COMPILE_SWITCHES:
        setting = env.get(name)
        if setting is None or setting.span is None or not setting.known:
            continue
        value = _true_or_false(typed_setting(setting))
        if value.is_(True):
            editor = FlagEditor({"compile_off": (Given(value, None, str(setting.value)),)})
            found.append(Compilation(setting.span, CompileState.DISABLED, name, role, editor))
    return found


def variable(name: str, word: Word, span: Span, key: Span | None = None) -> Setting[Any]:
    """An environment variable as a setting, from the word that holds its value."""
    if not word.known:
        return Setting(State.UNKNOWN, None, span, Via.LITERAL, name, (), key)
    literal = word.span() if word.exact and word.text and word.view.writable else None
    return Setting(State.KNOWN, word.text, span, Via.LITERAL, name, (), key, literal)


def install_words(tool: str, env: Environment, document: Document) -> Iterator[Word]:
    """The flags that an installer reads from its environment (`PIP_PRE=1` is `--pre`)."""
    view = whole(document)
    for name, flag in INSTALL_VARIABLES.get(tool, {}).items():
        setting = env.get(name)
        if setting is None or not setting.known or setting.span is None:
            continue
        value = str(setting.value)
        if flag == "--pre":
            if value.lower() in ("1", "true", "yes", "on"):
                yield Word(flag, view, setting.span.start, setting.span.end, exact=False)
            continue
        place = setting.literal or setting.span
        exact = setting.literal is not None
        yield Word(flag, view, place.start, place.start, exact=False)
        inner = place.start if exact else -1
        yield Word(value, view, place.start, place.end, True, inner, exact)


def _true_or_false(setting: Setting[Any]) -> Setting[Any]:
    if setting.known and setting.value in (0, 1):
        return replace(setting, value=bool(setting.value))
    return setting
