"""Dates as people write them, and as machines do: the task of the small translators.

>>> from attnviz.models.teaching.dates import Writer
>>> Writer(seed=0).example(2)
('april 1, 2038; the 5th of december, 2050', '2038-04-01;2050-12-05')
"""

from __future__ import annotations

import random
from calendar import day_abbr, day_name, month_abbr, month_name
from datetime import date, timedelta

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
        long, short = month_name[day.month].lower(), month_abbr[day.month].lower()
        week, wk = day_name[day.weekday()].lower(), day_abbr[day.weekday()].lower()
        return self.random.choice(
            [
                f"{long} {day.day}, {day.year}",
                f"{day.day} {long} {day.year}",
                f"{week}, {long} {ordinal(day.day)}, {day.year}",
                f"{wk} {day.day} {short} {day.year}",
                f"the {ordinal(day.day)} of {long}, {day.year}",
                f"{short} {day.day} {day.year}",
                f"{day.day}. {day.month}. {day.year}",
                f"{day.day:02}/{day.month:02}/{day.year}",
                f"{week}, the {ordinal(day.day)} of {long} {day.year}",
            ]
        )

    def example(self, n_dates: int) -> tuple[str, str]:
        """(what is read, what is to be written) with so many dates."""
        days = [self.day() for _ in range(n_dates)]
        return "; ".join(map(self.human, days)), ";".join(day.isoformat() for day in days)
