"""Files that are no agent files, or hardly YAML: a clear fault with its line, never an exception or a long wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.agent import HierarchicalDocumentToolConfig, check_agent, load_agent
from loccit.agent.faults import ConfigError
from loccit.agent.yaml_source import YamlSourceError, read_yaml

from .conftest import Check, Write

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

BROKEN = [
    ("empty", b"", 1, "is empty"),
    ("comments", b"# nothing\n\n", 1, "is empty"),
    ("list", b"- a\n- b\n", 1, "is not a block of fields"),
    ("text", b"hello", 1, "is not a block of fields"),
    ("number", b"42", 1, "is not a block of fields"),
    ("tab", b"name: a\ntools:\n\t- name: b\n", 3, "a tab where spaces are expected"),
    ("tab later", b"model:\n  provider: x\n\tname: y\n", 3, "a tab where spaces are expected"),
    ("colon", b"name: a: b\n", 1, "in quotes"),
    ("indentation", b"tools:\n  - name: a\n   source: b\n", 3, "indented"),
    ("no colon", b"name: a\ndescription\nmodel: b\n", 3, "a field is written name: value"),
    ("unclosed", b"name: [a, b\n", 2, "not valid YAML"),
    ("quote", b"name: 'a\n", 2, "not valid YAML"),
    ("two documents", b"name: a\n---\nname: b\n", 2, "a second document"),
    ("undefined alias", b"name: *a\n", 1, "undefined alias"),
    ("tag", b"name: !!python/object/apply:os.system ['echo']\n", 1, "the tag"),
    ("own tag", b"name: !secret x\n", 1, "the tag !secret is not allowed"),
    ("set", b"name: !!set {a}\n", 1, "is not allowed"),
    ("binary", b"\x00\x01\x02\xff\xfe", 1, "is not UTF-8 text"),
    ("zero bytes", b"name: a\x00b", 0, "zero bytes"),
    ("control", b"name: a\nmodel: \x07\n", 2, "is not allowed in YAML"),
    ("latin-1", "name: a\ndescription: Häfen\n".encode("latin-1"), 2, "is not UTF-8 text"),
    ("utf-16", "name: a".encode("utf-16"), 1, "is not UTF-8 text"),
    ("bomb", BOMB.encode(), 1, "more than 20,000 values"),
    ("cycle", b"name: &a [*a]\n", 1, "an alias contains itself"),
    ("depth", b"name: " + b"[" * 5000 + b"]" * 5000, 1, "nested more than 50 deep"),
    ("depth of blocks", b"- " * 5000, 1, "nested more than 50 deep"),
    (
        "depth of lines",
        "".join(" " * depth + "a:\n" for depth in range(60)).encode(),
        51,
        "nested more than 50 deep",
    ),
    (
        "alias in depth",
        b"a: &a [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]\nb: &b [[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]\nc: [[[[[[[[[[[[[[[[[[[[*b]]]]]]]]]]]]]]]]]]]]",
        1,
        "nested more than 50 deep",
    ),
    ("huge", b"# " + b"x" * 250_001, 0, "is larger than 250,000 bytes"),
    ("key", b"? [a, b]\n: c\n", 1, "a field name must be a word"),
    ("merge of a text", b"<<: a\n", 1, "<< must be followed by an alias of a mapping"),
    ("unquoted variable", b"name: [${A}]\n", 1, "put ${NAME} in quotes"),
]


@pytest.mark.parametrize(
    ("content", "line", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_a_broken_file_is_one_fault(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    path = tmp_path / "agent.yaml"
    path.write_bytes(content)
    (fault,) = check_agent(path).faults
    assert message in fault.message
    assert fault.line == line
    with pytest.raises(ConfigError, match=r"agent\.yaml"):
        load_agent(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert (
        str(check_agent(tmp_path / "no.yaml").faults[0]) == f"{tmp_path / 'no.yaml'}: there is no such file"
    )
    assert "is a folder" in check_agent(tmp_path).faults[0].message


def test_a_field_that_is_there_twice_is_refused_with_both_lines(check: Check) -> None:
    (fault,) = check("name: a\ndescription: b\nname: c\n").faults
    assert str(fault) == "agent.yaml:3: name: is a duplicate, first on line 1"


def test_aliases_and_merges_are_followed_and_keep_the_lines_of_what_they_take(check: Check) -> None:
    text = """\
        tools:
          - &first
            name: one
            description: d
            source: docs
            top_k: 7
          - <<: *first
            name: two
            top_k: {k}
        """
    checked = check(text.replace("{k}", "9"))
    assert checked.config is not None
    assert [(tool.name, tool.top_k) for tool in checked.config.document_tools] == [("one", 7), ("two", 9)]
    (fault,) = check(text.replace("{k}", "900")).faults
    assert (fault.line, fault.field) == (9, "tools[1].top_k")


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a\r\ntop: b\r\n")
    (fault,) = check_agent(path).faults
    assert (fault.line, fault.field) == (2, "top")
    path.write_bytes(b"\xef\xbb\xbfname: a\r\ndescription: b\r\n")
    assert load_agent(path).name == "a"


def test_a_date_that_does_not_exist_is_text(check: Check) -> None:
    checked = check("name: 2025-13-45\n")
    assert checked.config is not None
    assert checked.config.name == "2025-13-45"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(sorted(HierarchicalDocumentToolConfig.model_fields))
AGENTS = st.fixed_dictionaries(
    {},
    optional={
        "name": VALUES,
        "model": VALUES,
        "databases": VALUES,
        "tools": st.lists(st.dictionaries(FIELDS, VALUES, max_size=6), max_size=3) | VALUES,
        "instructions": VALUES,
    },
)


@settings(max_examples=150, deadline=None)
@given(data=AGENTS)
def test_any_values_end_in_an_agent_or_in_faults_with_lines(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("any") / "agent.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    checked = check_agent(path, variables={})
    assert (checked.config is None) == bool(checked.faults)
    lines = path.read_text(encoding="utf-8").count("\n") + 1
    assert all(0 <= fault.line <= lines for fault in checked.faults)


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab:-\n \t[]{}&*!|>'\"#%@`,?<${}é\0", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_yaml(text, {})
    except YamlSourceError as error:
        assert str(error)


@settings(max_examples=100, deadline=None)
@given(data=AGENTS)
def test_values_are_those_of_the_safe_loader(data: dict[str, Any]) -> None:
    text = yaml.safe_dump(data)
    if "${" not in text:
        assert repr(read_yaml(text, {}).data) == repr(_with_text_keys(yaml.safe_load(text)))


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


def test_lines_lead_to_where_values_are_written(write: Write) -> None:
    text = write(
        """\
        # a comment

        name: a
        tools:

          - name: b
            filters:
              tags:
                - one
                - two
        """
    ).read_text(encoding="utf-8")
    source = read_yaml(text, {})
    written = text.splitlines()
    for place, start in [
        (("name",), "name: a"),
        (("tools", 0, "name"), "  - name: b"),
        (("tools", 0, "filters", "tags"), "      tags:"),
        (("tools", 0, "filters", "tags", 1), "        - two"),
        (("tools", 0, "filters", "gone", 5), "    filters:"),
    ]:
        assert written[source.line(place) - 1] == start
