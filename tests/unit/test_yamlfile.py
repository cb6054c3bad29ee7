from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from controller import yamlfile
from controller.errors import UsageError


class Wheel(Struct, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1)] | Annotated[float, Meta(ge=1)]
    colour: str = "black"


class Car(Struct, forbid_unknown_fields=True):
    name: str
    wheels: list[str | Wheel] = []
    parts: list[str] | dict[str, Wheel | None] = []


def complaint(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        yamlfile.parse(text, "car.yaml").convert(Car)
    told = str(caught.value)
    assert "\n" not in told
    return told


def test_a_file_becomes_typed_data(tmp_path: Path) -> None:
    path = tmp_path / "car.yaml"
    path.write_text("name: fiat\nwheels: [left, {size: 3}]\nparts: {a: , b: {size: 1.5, colour: no}}\n")
    assert yamlfile.load(path, Car) == Car("fiat", ["left", Wheel(3)], {"a": None, "b": Wheel(1.5, "no")})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [fiat\n", "car.yaml:2:1: not YAML: expected ',' or ']'"),
        ("name: fiat\n\twheels: []\n", "car.yaml:2:1: not YAML: found character '\\t'"),
        ("name: a\n---\nname: b\n", "car.yaml:2:1: not YAML: but found another document"),
        ("name: a\x07b\n", "car.yaml:1:8: not YAML: the character"),
        ("", "car.yaml:1:1: the file is empty"),
        ("name: a\nname: b\n", "car.yaml:2:1: `name` stands here a second time"),
        ("name: a\nparts: {x: {size: 1}, x: }\n", "car.yaml:2:23: `x` stands here a second time"),
        ("3: a\n", "car.yaml:1:1: a key must be text"),
        ("[a]: b\n", "car.yaml:1:1: a key must be text"),
        ("name: &n a\nwheels: [*n]\n", "car.yaml:2:10: not YAML: aliases are not read here"),
        ("name: !!python/name:os.system\n", "car.yaml:1:7: the tag `tag:yaml.org,2002:python/name:os.system`"),
        ("name: !!int x\n", "car.yaml:1:7: `x` is not a number"),
        ("name: " + "9" * 5000, "car.yaml:1:7: `99999999999999999999` is not a number"),
        ("name: " + "[" * 100 + "]" * 100, "car.yaml:1:46: not YAML: nested deeper than 40 levels"),
        ("- a\n", "car.yaml:1:1: expected a mapping, got a list"),
        ("wheels: []\n", "car.yaml:1:1: the key `name` is missing"),
        ("name: 3\n", "car.yaml:1:7: expected text, got a whole number"),
        ("name: a\nwhels: []\n", "car.yaml:2:1: unknown key `whels`; did you mean `wheels`? known: name, parts"),
        ("name: a\nwheels:\n  - a\n  - {size: 0}\n", "car.yaml:4:12: expected a whole number >= 1"),
        ("name: a\nwheels:\n  - {size: 2, color: red}\n", "car.yaml:3:15: unknown key `color`; did you mean `colour`?"),
        ("name: a\nwheels: [a, {}]\n", "car.yaml:2:13: the key `size` is missing"),
        ("name: a\nwheels: [a, [b]]\n", "car.yaml:2:13: expected text or a mapping, got a list"),
        ("name: a\nparts: {x: {size: 1}, y: {size: big}}\n", "car.yaml:2:33: expected a whole number or a number"),
        ("name: a\nparts: {x: , y: {zize: 1}}\n", "car.yaml:2:18: unknown key `zize`; did you mean `size`?"),
        ("name: a\nparts: [x, 4]\n", "car.yaml:2:12: expected text, got a whole number"),
        ("name: a\nwheels: [{size: .nan}]\n", "car.yaml:2:17: expected a whole number or a number, got text"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    assert complaint(text).startswith(told)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("0x10", "0x10"),
        ("1e3", 1000.0),
        ("+7", 7),
        (".5", 0.5),
        ("true", True),
        ("~", None),
        ("", None),
        ("'7'", "7"),
    ],
)
def test_plain_words_mean_what_they_look_like(text: str, value: object) -> None:
    assert yamlfile.parse(f"v: {text}\n", "x.yaml").data == {"v": value}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        yamlfile.read(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        yamlfile.read(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9\n")
    with pytest.raises(UsageError, match="byte 6 is not UTF-8"):
        yamlfile.read(tmp_path / "latin.yaml")


def test_a_problem_points_as_near_as_the_file_goes() -> None:
    document = yamlfile.parse("a:\n  - b: 1\n", "x.yaml")
    assert str(document.problem(["a", 0, "b"], "bad")) == "x.yaml:2:8: bad"
    assert str(document.problem(["a", 0, "c", "d"], "bad")) == "x.yaml:2:5: bad"
    assert str(document.problem([], "bad")) == "x.yaml:1:1: bad"


@given(st.text(alphabet="ab:{}[]-,&*!|>'\"#%@`?\n\t ~1.\\\x00é", max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    complaints = []
    try:
        yamlfile.parse(text, "x.yaml").convert(Car)
    except UsageError as error:
        complaints.append(str(error))
    assert all(told.startswith("x.yaml:") and "\n" not in told for told in complaints)


def test_a_value_grafted_in_is_blamed_where_it_came_from() -> None:
    document = yamlfile.parse("name: a\nparts: {x: {size: 1}}\nmore: [0, 7]\n", "x.yaml")
    changed = document.without("more").grafted(["parts", "x", "size"], document, ["more", 1])
    assert changed.convert(Car) == Car("a", [], {"x": Wheel(7)})
    wrong = document.without("more").grafted(["parts", "y", "size"], document, ["more", 0])
    with pytest.raises(UsageError, match=r"x.yaml:3:8: expected a whole number >= 1"):
        wrong.convert(Car)
    given = document.without("more").grafted(["name"], yamlfile.parse("[b]", "--name"))
    with pytest.raises(UsageError, match=r"--name:1:1: expected text, got a list"):
        given.convert(Car)
    assert document.without("more").convert(Car) == Car("a", [], {"x": Wheel(1)})


def test_a_word_that_is_none_of_those_allowed_is_answered_with_them() -> None:
    class Chosen(Struct):
        log: Literal["all", "deliveries"]

    with pytest.raises(UsageError, match="no such value: `some`; known: all, deliveries"):
        yamlfile.parse("log: some", "here").convert(Chosen)
