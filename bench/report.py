"""Figures as a table for people and as JSON for keeping. Every run's value is shown."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_LABEL = 52  # characters of a row's label


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratio:
    """How one figure of a group compares with another one, of that group unless it says so."""

    label: str
    figure: str
    to: str
    to_group: str = ""


@dataclass(kw_only=True, slots=True)
class Series:
    """The values of one figure, in the order in which they were found."""

    unit: str
    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Their median."""
        return statistics.median(self.values)


class Figures:
    """All figures, by group and name, in the order in which they first came."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, Series]] = {}

    def add(self, group: str, name: str, value: float, unit: str = "s") -> None:
        """One more value of a figure."""
        self.groups.setdefault(group, {}).setdefault(name, Series(unit=unit)).values.append(value)

    def ratio(self, group: str, wanted: Ratio) -> float | None:
        """The ratio of two medians; None where one of them was not measured."""
        first = self.groups.get(group, {}).get(wanted.figure)
        second = self.groups.get(wanted.to_group or group, {}).get(wanted.to)
        return first.median / second.median if first and second else None

    def lines(self, ratios: Mapping[str, Sequence[Ratio]]) -> list[str]:
        """The table: a row a figure, its values one by one and their median; then the ratios."""
        lines = []
        for group, figures in self.groups.items():
            lines += ["", f"{group:<{_LABEL}} {'median':>9}   each run"]
            lines += [_row(name, series) for name, series in figures.items()]
            for wanted in ratios.get(group, ()):
                found = self.ratio(group, wanted)
                lines += [] if found is None else [f"  {wanted.label:<{_LABEL - 2}} {found:>9.2f}"]
        return lines

    def document(self, ratios: Mapping[str, Sequence[Ratio]]) -> dict[str, object]:
        """The same as plain data."""
        return {
            group: {
                "figures": {
                    name: {"unit": series.unit, "median": series.median, "values": series.values}
                    for name, series in figures.items()
                },
                "ratios": {
                    wanted.label: self.ratio(group, wanted) for wanted in ratios.get(group, ())
                },
            }
            for group, figures in self.groups.items()
        }


def _row(name: str, series: Series) -> str:
    digits = 0 if series.unit in ("", "MiB") else 1
    each = "  ".join(f"{value:.{digits}f}" for value in series.values)
    label = f"{name}, {series.unit}" if series.unit else name
    return f"  {label:<{_LABEL - 2}} {series.median:>9.{digits}f}   {each}"


def as_json(document: Mapping[str, object]) -> str:
    """A document as it is kept."""
    return json.dumps(document, indent=1) + "\n"
