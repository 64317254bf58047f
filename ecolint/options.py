"""Every setting: its key, what it takes and what it does.

This one table validates configuration files, answers `ecolint config` and makes the
reference in docs/configuration.md. Defaults stand in `ecolint.settings.Settings` alone.
"""

from enum import Enum
from typing import NamedTuple


class Takes(Enum):
    """What an option takes."""

    BOOL = "true or false"
    INT = "a whole number"
    TEXT = "a string"
    PATH = "a path"
    TEXTS = "a list of strings"
    RULES = "a list of rule codes, prefixes or names"
    RULES_BY_GLOB = "a table of glob = list of rule codes"
    VERSIONS = "a table of package = version"
    NUMBERS = "a table of name = number"


class Option(NamedTuple):
    """One setting as users meet it; `flag` is its command-line form, if it has one."""

    key: str
    takes: Takes
    summary: str
    example: str
    flag: str = ""
    choices: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The attribute of Settings."""
        return self.key.replace("-", "_")


# Understood while a file is read, so not an attribute of Settings.
EXTEND = Option(
    "extend",
    Takes.PATH,
    "Another configuration file whose settings hold where this one says nothing. Relative to "
    "this file; `~` and environment variables are expanded.",
    'extend = "../ecolint.toml"',
)

OPTIONS = (
    Option(
        "select",
        Takes.RULES,
        "The rules to run: codes, prefixes of codes, rule names or ALL. The most specific "
        "selector decides about a rule.",
        'select = ["ECO1", "kv-cache-disabled"]',
        "--select",
    ),
    Option(
        "ignore",
        Takes.RULES,
        "The rules to leave out. On a draw with `select`, `ignore` wins.",
        'ignore = ["ECO401"]',
        "--ignore",
    ),
    Option(
        "extend-select",
        Takes.RULES,
        "Rules to run besides those of `select`.",
        'extend-select = ["ECO603"]',
        "--extend-select",
    ),
    Option(
        "per-file-ignores",
        Takes.RULES_BY_GLOB,
        "Rules to leave out in the files that a glob matches: by name, or by path relative to "
        "this file. A glob that starts with `!` means all other files.",
        '[tool.ecolint.per-file-ignores]\n"legacy/*.py" = ["ECO101"]',
        "--per-file-ignores",
    ),
    Option(
        "exclude",
        Takes.TEXTS,
        "Files and folders to leave out: a bare name matches at any depth, a path is relative "
        "to this file. Replaces the default list; `extend-exclude` adds to it.",
        'exclude = ["third_party", "*.gen.yaml"]',
        "--exclude",
    ),
    Option(
        "extend-exclude",
        Takes.TEXTS,
        "Files and folders to leave out besides those of `exclude`.",
        'extend-exclude = ["notebooks/archive"]',
        "--extend-exclude",
    ),
    Option(
        "force-exclude",
        Takes.BOOL,
        "Leave excluded files out even when they are named on the command line, as pre-commit "
        "does.",
        "force-exclude = true",
        "--force-exclude",
    ),
    Option(
        "respect-gitignore",
        Takes.BOOL,
        "Leave out what .gitignore files leave out.",
        "respect-gitignore = false",
        "--respect-gitignore",
    ),
    Option(
        "include-tests",
        Takes.BOOL,
        "Judge tests and documentation too, which nobody deploys.",
        "include-tests = true",
        "--include-tests",
    ),
    Option(
        "show-green",
        Takes.BOOL,
        "Report good practices too. They never change the exit status.",
        "show-green = true",
        "--show-green",
    ),
    Option(
        "ignore-noqa",
        Takes.BOOL,
        "Report findings that comments silence.",
        "ignore-noqa = true",
        "--ignore-noqa",
    ),
    Option(
        "fix",
        Takes.BOOL,
        "Apply safe fixes without being asked on the command line.",
        "fix = true",
        "--fix",
    ),
    Option(
        "unsafe-fixes",
        Takes.BOOL,
        "Count and apply fixes that may change a model's outputs, speed or memory.",
        "unsafe-fixes = true",
        "--unsafe-fixes",
    ),
    Option(
        "fixable",
        Takes.RULES,
        "The rules whose fixes may be applied.",
        'fixable = ["ECO701"]',
    ),
    Option(
        "unfixable",
        Takes.RULES,
        "The rules whose fixes are never applied.",
        'unfixable = ["ECO101"]',
    ),
    Option(
        "output-format",
        Takes.TEXT,
        "The format of the findings.",
        'output-format = "full"',
        "--output-format",
    ),
    Option(
        "gpu",
        Takes.TEXT,
        "The GPU that the code runs on. It overrides what ecolint reads from the project.",
        'gpu = "RTX 4090"',
        "--gpu",
    ),
    Option(
        "model",
        Takes.TEXT,
        "The model that is served, where the code does not name it: a Hugging Face id or a "
        "size such as 7B.",
        'model = "Qwen/Qwen2.5-7B-Instruct"',
        "--model",
    ),
    Option(
        "stack",
        Takes.VERSIONS,
        "Versions of packages, where no requirement or lock file pins them.",
        '[tool.ecolint.stack]\nbitsandbytes = "0.50"',
        "--stack",
    ),
    Option(
        "region",
        Takes.TEXT,
        "Where the GPUs run, for the carbon intensity and the price of power.",
        'region = "fra"',
    ),
    Option(
        "measurements",
        Takes.PATH,
        "A CSV file of your own measurements, which win over the published ones. Relative to "
        "this file.",
        'measurements = "energy.csv"',
    ),
    Option(
        "budget",
        Takes.NUMBERS,
        "What the project may cost in a month; an audit can fail on it.",
        "[tool.ecolint.budget]\nusd-per-month = 500",
        choices=("usd-per-month",),
    ),
    Option(
        "jobs",
        Takes.INT,
        "How many processes read files; 0 takes as many as pay off.",
        "jobs = 4",
        "--jobs",
    ),
    Option(
        "cache",
        Takes.BOOL,
        "Remember the results of files that have not changed.",
        "cache = false",
        "--no-cache",
    ),
    Option(
        "cache-dir",
        Takes.PATH,
        "The folder of the cache. Relative to this file; `.ecolint_cache` beside it by default.",
        'cache-dir = "~/.cache/ecolint"',
        "--cache-dir",
    ),
    Option(
        "required-version",
        Takes.TEXT,
        "Refuse to run under another version of ecolint.",
        'required-version = ">=0.1"',
    ),
)
