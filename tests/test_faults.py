"""The table of faults that others met: its tests are there, and say so themselves."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLE = (TESTS.parent / "docs" / "faults.md").read_text()
REPORTS = 40
CODE = re.compile(r"\b[A-H]\d\d\b")
ROW = re.compile(r"^\| ([A-Z]\d\d) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
SOURCE = re.compile(r"\b[\w.-]+/[\w.-]+#\d+")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
ROWS = {code: (fault, tests) for code, fault, _, tests in ROW.findall(TABLE)}


@cache
def docstrings(path: Path) -> dict[str, str]:
    """{test: what it says of itself} of a module."""
    functions = ast.walk(ast.parse(path.read_text()))
    return {
        item.name: ast.get_docstring(item) or ""
        for item in functions
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test_")
    }


def test_each_report_is_in_one_table_once() -> None:
    codes = re.findall(r"^\| ([A-Z]\d\d)\b", TABLE, re.MULTILINE)
    assert len(codes) == len({*codes}) == REPORTS
    assert {*codes} == ROWS.keys(), "a row has not four cells"


@pytest.mark.parametrize("code", ROWS)
def test_each_report_has_a_source_and_tests_that_are_there_and_say_its_number(code: str) -> None:
    fault, tests = ROWS[code]
    assert SOURCE.search(fault)
    named = NAMED.findall(tests)
    assert " ".join(f"`{path}::{name}`" for path, name in named) == tests
    for path, name in named:
        assert code in CODE.findall(docstrings(TESTS / path)[name]), f"{path}::{name}"


def test_each_number_that_a_test_says_is_in_a_table() -> None:
    said = {
        code
        for path in TESTS.rglob("test_*.py")
        for text in docstrings(path).values()
        for code in CODE.findall(text)
    }
    assert said == ROWS.keys()
