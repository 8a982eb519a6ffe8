"""Words quoted for a shell."""

import shlex

from tarmac.shared import text
from tarmac.shared.text import LONGEST_KEPT, MOST_KEPT, command_line


def test_quoting_many_and_long_words_keeps_few_and_short_ones() -> None:
    long = "it's " * 1000
    words = [long, *(f"word {number}" for number in range(3 * MOST_KEPT))]
    assert shlex.split(command_line(words)) == words
    assert len(text._quoted) <= MOST_KEPT
    assert max(map(len, text._quoted)) <= LONGEST_KEPT
