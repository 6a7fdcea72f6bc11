"""Numbers that are none, or none of ours."""

import numpy as np
import pytest

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole


def test_what_counts_as_whole():
    assert whole("n", 3) == 3
    assert whole("n", np.int64(3)) == 3
    assert whole("n", 0, least=0) == 0


@pytest.mark.parametrize("value", [4096.0, "4096", None, True, float("nan"), [4]])
def test_what_does_not(value: object):
    with pytest.raises(AttnvizError, match="n must be a whole number, not"):
        whole("n", value)


def test_bounds_name_what_came():
    with pytest.raises(AttnvizError, match="n must be at least 1, not -4,096"):
        whole("n", -4096)
    with pytest.raises(AttnvizError, match="n must be at most 1,000,000,000,000,000, not 1,0"):
        whole("n", 10**15 + 1)
