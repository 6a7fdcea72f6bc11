"""Dates as people write them, and as machines do: the task of the small translators.

>>> from attnviz.models.teaching.dates import Writer
>>> Writer(seed=0).example(2)
('april 1, 2038; the 5th of december, 2050', '2038-04-01;2050-12-05')
"""

from __future__ import annotations

import random
from calendar import day_abbr, day_name, month_abbr, month_name
from datetime import date, timedelta
from string import Formatter

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
READ = " ,./;0123456789abcdefghijklmnopqrstuvwxyz"
WRITTEN = "0123456789-;"
"""The characters of a line that is read, and of one that is written."""


def unseen(day: date) -> bool:
    """One date in ten is kept out of training, whatever the words around it."""
    return (day.toordinal() * 2654435761 >> 7) % 10 == 0


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 11th, .."""
    teens = 10 <= number % 100 <= 20
    return str(number) + ("th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


WAYS = (
    "{month:long} {day}, {year}",
    "{day} {month:long} {year}",
    "{week:long}, {month:long} {day:th}, {year}",
    "{week} {day} {month:short} {year}",
    "the {day:th} of {month:long}, {year}",
    "{month:short} {day} {year}",
    "{day}. {month}. {year}",
    "{day:02}/{month:02}/{year}",
    "{week:long}, the {day:th} of {month:long} {year}",
)
FIELDS = ("year", "month", "day")  # in the order in which they are written


def _said(day: date, word: str, form: str) -> str:
    """One part of a date, in one of its forms."""
    if word == "week":
        return (day_name if form == "long" else day_abbr)[day.weekday()].lower()
    number = getattr(day, word)
    if form in ("long", "short"):
        return (month_name if form == "long" else month_abbr)[number].lower()
    return ordinal(number) if form == "th" else format(number, form)


class Writer:
    """Draws dates and writes each in one of the ways people do."""

    def __init__(self, seed: int, *, test: bool = False) -> None:
        self.random, self.test = random.Random(seed), test

    def day(self) -> date:
        """A date of the training part, or of the part kept out of it."""
        while True:
            drawn = FIRST + timedelta(days=self.random.randrange((LAST - FIRST).days + 1))
            if unseen(drawn) == self.test:
                return drawn

    def human(self, day: date) -> str:
        """One of nine ways."""
        return self.with_fields(day)[0]

    def with_fields(self, day: date) -> tuple[str, dict[str, range]]:
        """One of nine ways, and which of its characters say the year, the month and the day."""
        text, fields = "", {}
        for before, word, form, _ in Formatter().parse(self.random.choice(WAYS)):
            said = "" if word is None else _said(day, word, form or "")
            text += before
            if word in FIELDS:
                fields[word] = range(len(text), len(text) + len(said))
            text += said
        return text, fields

    def example(self, n_dates: int) -> tuple[str, str]:
        """(what is read, what is to be written) with so many dates."""
        days = [self.day() for _ in range(n_dates)]
        return "; ".join(map(self.human, days)), ";".join(day.isoformat() for day in days)
