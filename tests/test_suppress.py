"""Comments that silence findings: where they count, what they name, and which are useless."""

import json

import pytest
from fake_linting import document_of, finding, names

from ecolint.diagnostics import Diagnostic, Location
from ecolint.document import Document, Kind
from ecolint.fixes import apply
from ecolint.frontends import notebook
from ecolint.silence import add_noqa
from ecolint.suppress import Judged, suppress


def judge(
    text: str,
    *found: tuple[str, str],
    kind: Kind = Kind.PYTHON,
    path: str = "a.py",
    off: tuple[str, ...] = (),
) -> tuple[Document, Judged]:
    """Put findings (needle, code) in a text before its comments; `off` are rules not run."""
    document = document_of(text, kind, path)
    diagnostics = [finding(document, needle, code) for needle, code in found]
    return document, suppress(document, diagnostics, names(), lambda code: code not in off)


def silenced(text: str, code: str = "ECO301", kind: Kind = Kind.PYTHON, path: str = "a.py") -> bool:
    """Whether the finding on `WASTE` is silenced."""
    _, judged = judge(text, ("WASTE", code), kind=kind, path=path)
    return judged.diagnostics[0].suppressed is not None


@pytest.mark.parametrize(
    "text",
    [
        "WASTE  # noqa",
        "WASTE  #noqa",
        "WASTE  # NOQA",
        "WASTE  # noqa: ECO301",
        "WASTE  # noqa:E501,ECO301",
        "WASTE  # noqa: E501 ECO301 because",
        "WASTE  # noqa: eager-mode",
        "WASTE  # noqa: ECO3",
        "WASTE  # noqa: because we must",
        "WASTE  # type: ignore  # noqa",
        "WASTE  # ecolint: ignore",
        "WASTE  # ecolint:ignore[ECO301]",
        "WASTE  # ecolint: ignore[ECO201, ECO301] debugging host",
        "WASTE  # ecolint: ignore[eager-mode]",
        "WASTE  # ecolint: ignore[eco301]",
        "WASTE  # pragma: no cover  # ecolint: ignore[ECO301]",
        "# ecolint: ignore[ECO301]\nWASTE",
        "# ecolint: ignore[ECO301]\n# and here is why\nWASTE",
        "    # noqa\n    WASTE",
        "a\nWASTE\nb\n# ecolint: ignore-file",
        "# ecolint: ignore-file[ECO301] generated\n\n\nWASTE",
        'f("""\nWASTE\n""")  # noqa: ECO301',
        "f('WASTE', \\\n  1)  # noqa",
    ],
)
def test_a_comment_silences(text: str) -> None:
    assert silenced(text)


@pytest.mark.parametrize(
    "text",
    [
        "WASTE  # noqa: E501",
        "WASTE  # noqa: ECO201",
        "WASTE  # no qa",
        "WASTE  # noqa-ish",
        "WASTE  # ecolint: ignore[]",
        "WASTE  # ecolint: ignore[ECO201]",
        "WASTE  # ecolint: ignored",
        "WASTE\n# ecolint: ignore",
        "# ecolint: ignore\n\nWASTE",
        "x  # ecolint: ignore\nWASTE",
        "# ecolint: ignore-file[ECO201]\nWASTE",
        'f("# noqa", WASTE)',
        "f('# ecolint: ignore', WASTE)",
        '"""\n# ecolint: ignore-file\n"""\nWASTE',
        "r'\\' # noqa', WASTE",
        "'it\\'s # noqa', WASTE",
        "# not a directive: ecolint ignore\nWASTE",
    ],
)
def test_a_comment_does_not_silence(text: str) -> None:
    assert not silenced(text)


def test_any_line_that_a_finding_touches_will_do() -> None:
    document = document_of("f(\n  a=1,\n  b=2,  # noqa: ECO301\n)\n")
    whole = finding(document, document.text.rstrip("\n"), "ECO301")
    assert suppress(document, [whole], names(), bool).diagnostics[0].suppressed == "# noqa: ECO301"
    first = finding(document, "f(\n", "ECO301")
    assert suppress(document, [first], names(), bool).diagnostics[0].suppressed is None


def test_the_reason_is_carried() -> None:
    _, judged = judge(
        "WASTE  # ecolint: ignore[ECO301] debug host # noqa: E501", ("WASTE", "ECO301")
    )
    assert judged.diagnostics[0].suppressed == "# ecolint: ignore[ECO301] debug host"


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        (Kind.YAML, "a.yaml", "a: WASTE  # ecolint: ignore[ECO301]"),
        (Kind.YAML, "a.yaml", "a: don't  # x\n# noqa\nb: WASTE"),
        (Kind.YAML, "a.yaml", "b: [WASTE, 'a # b']  # noqa"),
        (Kind.JSON, "a.jsonc", '{"a": WASTE // ecolint: ignore[ECO301]\n}'),
        (Kind.JSON, "a.jsonc", '{"a": WASTE /* ecolint: ignore */\n}'),
        (Kind.JSON, "a.jsonc", '{\n// ecolint: ignore[ECO301] why\n"a": WASTE}'),
        (Kind.TOML, "a.toml", "a = 'WASTE'  # ecolint: ignore"),
        (Kind.REQUIREMENTS, "requirements.txt", "WASTE  # noqa: ECO301"),
        (Kind.DOCKERFILE, "Dockerfile", "# ecolint: ignore[ECO301]\nRUN a \\\n  b \\\n  WASTE\n"),
        (Kind.DOCKERFILE, "Dockerfile", "RUN a \\\n  # ecolint: ignore[ECO301]\n  WASTE \\\n b"),
        (Kind.SHELL, "a.sh", "WASTE \\\n  --more # ecolint: ignore[ECO301]\n"),
        (Kind.SHELL, "a.sh", 'echo "it\'s # x" WASTE # noqa'),
        (Kind.BATCH, "a.bat", "REM ecolint: ignore[ECO301]\r\nWASTE ^\r\n --more\r\n"),
        (Kind.BATCH, "a.bat", "  :: ecolint: ignore\nWASTE"),
        (Kind.BATCH, "a.ps1", "WASTE `\n  -b # ecolint: ignore"),
        (Kind.MAKEFILE, "Makefile", "a:\n\tWASTE # ecolint: ignore"),
        (Kind.DOTENV, ".env", "# ecolint: ignore\nA=WASTE"),
        (Kind.PROCFILE, "Procfile", "web: WASTE # noqa"),
        (Kind.PBTXT, "c.pbtxt", 'name: "a#b" WASTE # ecolint: ignore'),
        (Kind.INI, "setup.cfg", "; ecolint: ignore\nWASTE"),
        (Kind.TERRAFORM, "a.tf", "a = WASTE // ecolint: ignore"),
        (Kind.TERRAFORM, "a.tf", "# ecolint: ignore\na = WASTE"),
        (Kind.MODELFILE, "Modelfile", "# ecolint: ignore\nPARAMETER WASTE"),
        (Kind.CONDA_LOCK, "conda-lock.yml", "# ecolint: ignore\n- WASTE"),
    ],
)
def test_every_kind_has_its_comments(kind: Kind, path: str, text: str) -> None:
    assert silenced(text, kind=kind, path=path)


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        (Kind.YAML, "a.yaml", 'a: "x # noqa" WASTE'),
        (Kind.YAML, "a.yaml", "a: x#noqa WASTE"),
        (Kind.JSON, "a.json", '{"a": "// ecolint: ignore", "b": WASTE}'),
        (Kind.TOML, "a.toml", "a = '''\n# ecolint: ignore-file'''\nb = WASTE"),
        (Kind.REQUIREMENTS, "r.txt", "https://x/y#noqa WASTE"),
        (Kind.SHELL, "a.sh", "echo '# noqa' WASTE"),
        (Kind.SHELL, "a.sh", "echo a#noqa WASTE"),
        (Kind.BATCH, "a.bat", "WASTE # ecolint: ignore"),
        (Kind.INI, "a.ini", "a = WASTE ; ecolint: ignore"),
        (Kind.TERRAFORM, "a.tf", 'a = "// noqa" WASTE'),
    ],
)
def test_what_is_no_comment_there_silences_nothing(kind: Kind, path: str, text: str) -> None:
    assert not silenced(text, kind=kind, path=path)


def unused(
    text: str, *found: tuple[str, str], off: tuple[str, ...] = (), **of: object
) -> list[str]:
    """The texts after each note on a useless comment is acted upon, one at a time."""
    document, judged = judge(text, *found, off=off, **of)  # type: ignore[arg-type]
    results = []
    for note in judged.unused:
        assert note.edits is not None
        start, end = note.span.start, note.span.end
        assert start < end
        carrier = finding(document, document.text[start:end], "ECO900", edits=note.edits)
        results.append(apply(document, [carrier]).text)
    return results


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a  # ecolint: ignore[ECO301]\nb\n", "a\nb\n"),
        ("a  # ecolint: ignore\nb\n", "a\nb\n"),
        ("a  # ecolint: ignore[]\nb\n", "a\nb\n"),
        ("a  # ecolint: ignore[ECO301] a good reason\nb\n", "a\nb\n"),
        ("x\n  # ecolint: ignore[ECO301]\nb\n", "x\nb\n"),
        ("x\r\n# ecolint: ignore[ECO301]\r\nb\r\n", "x\r\nb\r\n"),
        ("# ecolint: ignore-file[ECO301]\nb\n", "b\n"),
        ("b\n# ecolint: ignore", "b\n"),
        ("a  # ecolint: ignore[ECO999]\n", "a\n"),
        ("a  # ecolint: ignore[no-such-rule]\n", "a\n"),
        ("a  # noqa: ECO301\n", "a\n"),
        ("a  # noqa: E501, ECO301\n", "a  # noqa: E501\n"),
        ("a  # noqa: ECO301,E501\n", "a  # noqa: E501\n"),
        ("a  # noqa: ECO301 it is fine\n", "a  # it is fine\n"),
        ("a  # type: ignore  # noqa: ECO301\n", "a  # type: ignore\n"),
        ("a  # ecolint: ignore[ECO301]  # pragma: no cover\n", "a  # pragma: no cover\n"),
    ],
)
def test_a_useless_comment_is_told_and_removed(before: str, after: str) -> None:
    assert unused(before) == [after]


@pytest.mark.parametrize(
    "text",
    ["a  # noqa\n", "a  # noqa: E501\n", "a  # noqa: E501,W505\n", "a  # noqa: because\n"],
)
def test_what_other_tools_may_need_is_no_business_of_ours(text: str) -> None:
    assert unused(text) == []


def test_only_the_useless_codes_of_a_list_go() -> None:
    text = "WASTE  # ecolint: ignore[ECO201, ECO301, ECO000] reason\n"
    assert unused(text, ("WASTE", "ECO301")) == ["WASTE  # ecolint: ignore[ECO301] reason\n"]


def test_a_comment_that_silences_is_of_use() -> None:
    assert unused("WASTE  # ecolint: ignore[ECO301]\n", ("WASTE", "ECO301")) == []
    assert unused("WASTE  # noqa: ECO301, E501\n", ("WASTE", "ECO301")) == []
    assert unused("# ecolint: ignore-file\nWASTE\n", ("WASTE", "ECO301")) == []


def test_a_rule_that_did_not_run_proves_no_comment_useless() -> None:
    assert unused("a  # ecolint: ignore[ECO301]\n", off=("ECO301",)) == []
    assert unused("a  # ecolint: ignore\n", off=("ECO301",)) == []
    assert unused("a  # ecolint: ignore[ECO301]\n", off=("ECO900",)) == []


def test_a_comment_may_ask_to_be_left_alone() -> None:
    assert unused("a  # ecolint: ignore[ECO301, ECO900]\n") == []


def test_a_block_comment_goes_as_a_whole() -> None:
    text = '{"a": 1 /* ecolint: ignore[ECO301] */\n}'
    assert unused(text, kind=Kind.JSON, path="a.jsonc") == ['{"a": 1\n}']


def notebook_of(*cells: str | list[str]) -> Document:
    """A notebook's document, its cells known."""
    content = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
            for source in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    document = document_of(json.dumps(content, indent=1), Kind.NOTEBOOK, "a.ipynb")
    notebook.read(document)
    return document


@pytest.mark.parametrize("source", ["x = 1\nWASTE  # noqa\n", ["x = 1\n", "WASTE  # noqa\n"]])
def test_a_cell_has_its_own_lines(source: str | list[str]) -> None:
    document = notebook_of(["# ecolint: ignore\n", "a"], source)
    found = finding(document, "WASTE")
    assert found.location.cell == 2
    assert suppress(document, [found], names(), bool).diagnostics[0].suppressed == "# noqa"


def test_a_comment_in_another_cell_does_not_count() -> None:
    document = notebook_of("# ecolint: ignore[ECO301]", "WASTE")
    found = finding(document, "WASTE")
    judged = suppress(document, [found], names(), lambda code: True)
    assert judged.diagnostics[0].suppressed is None
    assert len(judged.unused) == 1


@pytest.mark.parametrize("source", ["a  # noqa: ECO301\nb", ["a  # noqa: ECO301\n", "b"]])
def test_a_useless_comment_in_a_cell_is_removed(source: str | list[str]) -> None:
    document = notebook_of(source)
    (note,) = suppress(document, [], names(), lambda code: True).unused
    carrier = finding(document, "noqa", "ECO900", edits=note.edits or ())
    after = json.loads(apply(document, [carrier]).text)
    assert "".join(after["cells"][0]["source"]) == "a\nb"


# --- writing them ---------------------------------------------------------------------------


def silence(document: Document, *needles: str) -> tuple[str, list[Diagnostic]]:
    """Silence findings, and see that they are."""
    diagnostics = [finding(document, needle) for needle in needles]
    done = add_noqa(document, diagnostics, names())
    after = document_of(document.encode(done.text), document.kind, document.path)
    if document.kind is Kind.NOTEBOOK:
        notebook.read(after)
    again = [finding(after, document.text[d.span.start : d.span.end]) for d in done.silenced]
    judged = suppress(after, again, names(), lambda code: code != "ECO201")
    assert all(one.suppressed for one in judged.diagnostics)
    assert judged.unused == []
    return done.text, list(done.left)


@pytest.mark.parametrize(
    ("kind", "path", "before", "after"),
    [
        (Kind.PYTHON, "a.py", "WASTE\n", "WASTE  # ecolint: ignore[ECO301]\n"),
        (Kind.PYTHON, "a.py", "WASTE  # why\r\n", "WASTE  # why  # ecolint: ignore[ECO301]\r\n"),
        (
            Kind.PYTHON,
            "a.py",
            "WASTE  # ecolint: ignore[ECO201] x\n",
            "WASTE  # ecolint: ignore[ECO201, ECO301] x\n",
        ),
        (
            Kind.PYTHON,
            "a.py",
            'f("""\nWASTE\n""")',
            'f("""\nWASTE\n""")  # ecolint: ignore[ECO301]',
        ),
        (Kind.PYTHON, "a.py", "WASTE + \\\n b\n", "WASTE + \\\n b  # ecolint: ignore[ECO301]\n"),
        (Kind.YAML, "a.yaml", "a: WASTE\n", "a: WASTE  # ecolint: ignore[ECO301]\n"),
        (Kind.TOML, "a.toml", "a = 'WASTE'\n", "a = 'WASTE'  # ecolint: ignore[ECO301]\n"),
        (
            Kind.JSON,
            "a.jsonc",
            '{\n  "a": "WASTE",\n}\n',
            '{\n  "a": "WASTE",  // ecolint: ignore[ECO301]\n}\n',
        ),
        (
            Kind.DOCKERFILE,
            "Dockerfile",
            "FROM x\nRUN a \\\n  WASTE\n",
            "FROM x\n# ecolint: ignore[ECO301]\nRUN a \\\n  WASTE\n",
        ),
        (Kind.DOTENV, ".env", "A=WASTE\r\n", "# ecolint: ignore[ECO301]\r\nA=WASTE\r\n"),
        (Kind.SHELL, "a.sh", "  WASTE\n", "  # ecolint: ignore[ECO301]\n  WASTE\n"),
        (Kind.BATCH, "a.bat", "WASTE\r\n", "REM ecolint: ignore[ECO301]\r\nWASTE\r\n"),
    ],
)
def test_a_comment_is_added_where_it_can_stand(
    kind: Kind, path: str, before: str, after: str
) -> None:
    document = document_of(before, kind, path)
    assert silence(document, "WASTE") == (after, [])


def test_a_comment_is_added_to_a_cell() -> None:
    document = notebook_of(["x = 'ü'\n", "WASTE\n", "b"])
    text, left = silence(document, "WASTE")
    assert left == []
    after = json.loads(text)
    assert after["cells"][0]["source"][1] == "WASTE  # ecolint: ignore[ECO301]\n"


def test_one_comment_serves_all_findings_of_a_line() -> None:
    document = document_of("WASTE + THAT\n")
    diagnostics = [finding(document, "WASTE"), finding(document, "THAT", "ECO201")]
    done = add_noqa(document, diagnostics, names())
    assert done.text == "WASTE + THAT  # ecolint: ignore[ECO201, ECO301]\n"
    assert len(done.silenced) == 2


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        (Kind.JSON, "a.json", '{"a": "WASTE"}'),
        (Kind.YAML, "a.yaml", "a: |\n  WASTE\nb: 1\n"),
    ],
)
def test_a_finding_is_left_where_no_comment_can_stand(kind: Kind, path: str, text: str) -> None:
    document = document_of(text, kind, path)
    after, left = silence(document, "WASTE")
    assert after == text
    assert [one.code for one in left] == ["ECO301"]


def test_what_is_silent_already_is_left_as_it_is() -> None:
    document = document_of("WASTE  # noqa\n")
    judged = suppress(document, [finding(document, "WASTE")], names(), bool)
    assert add_noqa(document, judged.diagnostics, names()).text == document.text


def test_places_in_a_file_are_rows_of_the_file() -> None:
    document = document_of("a\nWASTE\n")
    assert finding(document, "WASTE").location == Location(2, 1, None, 2, 1)
