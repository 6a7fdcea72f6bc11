"""Means over texts and how sure they are, one text at a time and none kept."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Float64, Int


class Tally:
    """Welford's running mean and sum of squares (Welford 1962, Technometrics 4), NaN left out."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n: Int[np.ndarray, ...] = np.zeros(shape, dtype=np.int64)
        self._mean = np.zeros(shape)
        self._squares = np.zeros(shape)

    def add(self, values: Float[np.ndarray, ...]) -> None:
        """One text's numbers."""
        there = ~np.isnan(values)
        self.n += there
        step = np.where(there, values - self._mean, 0.0)
        self._mean += step / np.maximum(self.n, 1)
        self._squares += step * np.where(there, values - self._mean, 0.0)

    @property
    def mean(self) -> Float64[np.ndarray, ...]:
        return np.where(self.n > 0, self._mean, np.nan)

    @property
    def sd(self) -> Float64[np.ndarray, ...]:
        """The standard deviation between texts, with n - 1; NaN for fewer than two."""
        spread = np.sqrt(self._squares / np.maximum(self.n - 1, 1))
        return np.where(self.n > 1, spread, np.nan)

    @property
    def se(self) -> Float64[np.ndarray, ...]:
        """The standard error of the mean: sd / sqrt(n), texts being the unit."""
        return self.sd / np.sqrt(np.maximum(self.n, 1))
