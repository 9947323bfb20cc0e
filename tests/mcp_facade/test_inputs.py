"""Arguments: lenient about their form, strict about what they mean, never repeated."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.expected import problem
from support.texts import hostile

from memprove.ledger.domain.events import Fact, TaskState
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    ARGUMENT_MISSING,
    BUDGET_INVALID,
    Problem,
)
from memprove.mcp_facade import inputs
from memprove.mcp_facade.inputs import Input
from memprove.mcp_facade.tool import wrong_arguments
from memprove.mcp_facade.tools import TOOLS

NO_NUMBERS: tuple[Any, ...] = (
    *(-1, 0, 3.5, -0.0, math.nan, math.inf, -math.inf, 1e300, 10**9, 10**40, True, False),
    *("", " ", "x", "-0", "-3", "0", "0.0", "3.5", "1e-3", "NaN", "Infinity", "true", "null"),
    *("1e99", "9" * 30, "0x3", "1_000", "٣", "３", "3 4", "--3", "3;", "1e9999999999"),
    *([3], {"task": 3}, {}, []),
)
NO_TEXTS: tuple[Any, ...] = (3, 3.0, True, [], ["x"], {}, {"text": "x"})
PROBLEMS = (ARGUMENT_INVALID, ARGUMENT_MISSING, BUDGET_INVALID)
DECISION = {"title": "t", "choice": "c", "rationale": "r"}


def refusal_of(model: type[Input], arguments: dict[str, Any]) -> Problem | None:
    """Return what a call with *arguments* is refused with, None if with nothing."""
    try:
        model.model_validate(arguments)
    except Problem as refused:
        return refused
    except ValidationError as error:
        return wrong_arguments(error)
    return None


def checkpoint(**arguments: Any) -> inputs.CheckpointInput:
    return inputs.CheckpointInput.model_validate(arguments)


@pytest.mark.parametrize("value", [3, 3.0, "3", " 3 ", "3.0", "3.", "+3", "03", "3e0", "0.3e1"])
def test_a_number_is_taken_in_every_form(value: Any) -> None:
    assert inputs.PackInput.model_validate({"task": value}).task == 3


@pytest.mark.parametrize("value", [1000, 1e3, "1e3", "1E+3", "1000.00"])
def test_a_number_may_have_an_exponent(value: Any) -> None:
    assert inputs.PackInput.model_validate({"budget": value}).budget == 1000


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_beyond_doubt_is_refused(value: Any) -> None:
    with problem("argument_invalid", "task is a whole number from 1"):
        inputs.PackInput.model_validate({"task": value})


@pytest.mark.parametrize("value", [*NO_NUMBERS, 199, 50_001, "199"], ids=repr)
def test_a_budget_that_is_none_has_a_problem_of_its_own(value: Any) -> None:
    with problem("budget_invalid"):
        inputs.PackInput.model_validate({"budget": value})


def test_a_limit_and_an_after_have_bounds() -> None:
    given = inputs.TasksInput.model_validate({"limit": "100", "after": 0})
    assert (given.limit, given.after) == (100, 0)
    for limit in (0, 101, "1e3"):
        with problem("argument_invalid", "limit is a whole number from 1 to 100"):
            inputs.TasksInput.model_validate({"limit": limit})
    for after in (-1, -0.0, "-0"):
        with problem("argument_invalid", "after is a whole number from 0"):
            inputs.TasksInput.model_validate({"after": after})


@pytest.mark.parametrize("model", [tool.input for tool in TOOLS], ids=lambda model: model.__name__)
def test_null_is_an_absent_optional_and_unknown_fields_are_ignored(model: type[Input]) -> None:
    needed = dict.fromkeys(model.model_json_schema().get("required", ()), "c1")
    absent = model.model_validate(needed)
    nulls = dict.fromkeys(model.model_fields)
    assert model.model_validate({**nulls, **needed, "unheard_of": {"of": [1]}}) == absent


@pytest.mark.parametrize("name", ["title", "choice", "rationale"])
def test_what_is_needed_may_not_be_absent_or_null(name: str) -> None:
    rest = {key: value for key, value in DECISION.items() if key != name}
    with problem("argument_missing", name):
        inputs.DecideInput.model_validate({**rest, name: None})
    with pytest.raises(ValidationError) as caught:
        inputs.DecideInput.model_validate(rest)
    wrong = wrong_arguments(caught.value)
    assert (wrong.code, wrong.detail) == ("argument_missing", name)


@pytest.mark.parametrize(
    ("value", "flag"),
    [(True, True), (False, False), ("true", True), ("False", False), (" TRUE ", True)],
)
def test_true_and_false_may_be_texts(value: Any, flag: bool) -> None:
    assert inputs.LedgerVerifyInput.model_validate({"full": value}).full is flag


@pytest.mark.parametrize("value", [1, 0, "1", "yes", "", [], {}, 1.0], ids=repr)
def test_nothing_else_is_true_or_false(value: Any) -> None:
    with problem("argument_invalid", "full is true or false"):
        inputs.LedgerVerifyInput.model_validate({"full": value})


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
def test_a_text_is_a_text(value: Any) -> None:
    with problem("argument_invalid", "next_action is a text"):
        checkpoint(next_action=value)


@pytest.mark.parametrize("value", [["a", "b"], '["a", "b"]', ' [ "a","b" ]'], ids=repr)
def test_a_list_may_be_json_in_a_text(value: Any) -> None:
    assert checkpoint(open_items=value).open_items == ("a", "b")


@pytest.mark.parametrize(("value", "items"), [("a b", ("a b",)), ("", ()), ("[]", ()), (" ", ())])
def test_a_single_text_is_a_list_of_one(value: str, items: tuple[str, ...]) -> None:
    assert checkpoint(open_items=value).open_items == items


@pytest.mark.parametrize(
    "value", ['["a"', "[a]", "[NaN]", "[Infinity]", "[x] done", "[" * 100_000], ids=len
)
def test_what_begins_like_a_list_must_be_one(value: str) -> None:
    with problem("argument_invalid", "open_items is a list"):
        checkpoint(open_items=value)


@pytest.mark.parametrize("value", [[1], [None], [["a"]], [{}], 5, {"a": 1}, True, "[1]"], ids=repr)
def test_the_entries_of_a_list_of_texts_are_texts(value: Any) -> None:
    with pytest.raises(Problem) as caught:
        checkpoint(open_items=value)
    assert caught.value.code in ("argument_invalid", "argument_missing")
    assert "an entry of open_items" in caught.value.detail


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        (["c3", "3", 3, 3.0, "3.0"], ("c3", "3", "3", "3", "3")),
        ('["c3", 4]', ("c3", "4")),
        ("c3", ("c3",)),
        ("c3, c4 5", ("c3", "c4", "5")),
        (3, ("3",)),
        ([], ()),
    ],
)
def test_labels_are_taken_with_and_without_their_letter(
    value: Any, labels: tuple[str, ...]
) -> None:
    assert checkpoint(reaffirm=value).reaffirm == labels


@pytest.mark.parametrize("value", [[True], [None], [-0.0], [0], [-3], [""], [3.5], [["c3"]]])
def test_what_is_no_label_is_refused(value: Any) -> None:
    with problem("argument_invalid", "an entry of reaffirm"):
        checkpoint(reaffirm=value)


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        ({"facts": ["x"] * 51}, "facts has 51 entries"),
        ({"facts": json.dumps(["x"] * 51)}, "facts has 51 entries"),
        ({"facts": {"text": "x", "paths": ["p"] * 51}}, "paths in an entry of facts has 51"),
        ({"facts": {"text": "x", "evidence": "r1 " * 51}}, "evidence in an entry of facts has 51"),
        ({"facts": f"x [{'r1 ' * 51}]"}, "evidence in an entry of facts has 51 entries"),
        ({"open_items": ["x"] * 51}, "open_items has 51 entries"),
        ({"reaffirm": ["c1"] * 1001}, "reaffirm has 1001 entries"),
        ({"withdraw": "c1 " * 1001}, "withdraw has 1001 entries"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_entries_of_a_list_are_counted_before_they_are_looked_at(
    arguments: dict[str, Any], counted: str
) -> None:
    with problem("too_many", counted):
        checkpoint(**arguments)


FACT = Fact(text="it works", evidence=("r1", "!r2"))


@pytest.mark.parametrize(
    "value",
    [
        ["it works [r1 !r2]"],
        "it works [r1 !r2]",
        {"text": "it works", "evidence": ["r1", "!r2"]},
        [{"text": "it works", "evidence": ["r1", "!r2"], "paths": None, "sure": True}],
        [{"text": "it works [r1 !r2]", "evidence": []}],
        [{"text": "it works", "evidence": "r1, !r2"}],
        [{"text": "it works", "evidence": '["r1","!r2"]'}],
        ['{"text": "it works", "evidence": ["r1", "!r2"]}'],
        '[{"text": "it works", "evidence": ["r1", "!r2"]}]',
        '["it works [r1 !r2]"]',
    ],
    ids=repr,
)
def test_a_fact_is_taken_as_an_object_or_as_a_text_with_its_evidence(value: Any) -> None:
    assert checkpoint(facts=value).facts == (FACT,)


def test_a_text_that_only_begins_like_an_object_is_a_text() -> None:
    for text in ("{x} is a set", '{"a": 1} is printed', '{"a": 1}', "[citation needed"):
        assert checkpoint(facts=[text]).facts == (Fact(text=text),)


def test_the_paths_of_a_fact_are_kept() -> None:
    facts = [{"text": "so", "evidence": ["r1"], "paths": ["src/", "a.py"]}]
    assert checkpoint(facts=facts).facts[0].paths == ("src/", "a.py")


@pytest.mark.parametrize("value", [[3], [None], [["x"]], [{}], [{"text": 3}], [{"x": "y"}], 7])
def test_what_is_no_fact_is_refused(value: Any) -> None:
    with pytest.raises(Problem) as caught:
        checkpoint(facts=value)
    assert caught.value.code in ("argument_invalid", "argument_missing")


@pytest.mark.parametrize(
    ("value", "states"),
    [
        (["in_progress", "blocked"], (TaskState.IN_PROGRESS, TaskState.BLOCKED)),
        ("In Progress", (TaskState.IN_PROGRESS,)),
        ('["in-progress"]', (TaskState.IN_PROGRESS,)),
        (None, ()),
    ],
)
def test_states_are_taken_as_people_write_them(value: Any, states: tuple[TaskState, ...]) -> None:
    assert inputs.TasksInput.model_validate({"status": value}).status == states


def test_an_unknown_state_names_those_that_there_are() -> None:
    with problem("argument_invalid", "status is of backlog, pending, in_progress, blocked"):
        inputs.TasksInput.model_validate({"status": ["done"]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(tool=st.sampled_from(TOOLS), draw=st.data())
def test_any_arguments_at_all_are_taken_or_a_problem_that_does_not_repeat_them(
    tool: Any, draw: st.DataObject
) -> None:
    names = list(tool.schema["properties"])
    mark = "Zqx7"
    value = draw.draw(JSON | st.just(mark) | st.just([mark]) | st.just({mark: mark}))
    arguments = {name: value for name in names if draw.draw(st.booleans())}
    refused = refusal_of(tool.input, arguments)
    assert mark not in str(refused)
    assert refused is None or refused.kind in PROBLEMS


def test_a_problem_of_arguments_is_told_without_their_values() -> None:
    secret = "hunter2hunter2"
    for arguments in ({"task": secret}, {"budget": secret}, {"manifest": secret}):
        with pytest.raises(Problem) as caught:
            inputs.PackInput.model_validate(arguments)
        assert secret not in str(caught.value)


def test_schemas_can_be_written_as_json() -> None:
    for tool in TOOLS:
        assert json.loads(json.dumps(tool.schema)) == tool.schema
