"""The most frequent words of a real text, the help of Python's own language: texts as keys of a dictionary."""

import time
from pydoc_data import topics

from lancehead import njit

TEXT = "\n".join(topics.topics.values())
MARKS = "\"'`*_.,:;!?()[]{}<>=|-+/"


@njit
def count_words(text):
    """How often each word occurs, in the order of first occurrence."""
    counts = {}
    for part in text.lower().split():
        word = part.strip(MARKS)
        if word:
            counts[word] = counts.get(word, 0) + 1
    return counts


@njit
def most_frequent(counts, n):
    """The `n` most frequent words with their counts; words of one count in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]


@njit
def words_by_length(counts):
    """For each length the words of that length, of which there is more than one."""
    groups = {}
    for word, count in counts.items():
        if count > 1:
            groups.setdefault(len(word), []).append(word)
    return groups


@njit
def summary(text, n):
    """The number of different words, the most frequent ones, and the longest that occur more than once."""
    counts = count_words(text)
    groups = words_by_length(counts)
    return len(counts), most_frequent(counts, n), sorted(groups[max(groups)])


if __name__ == "__main__":
    summary(TEXT, 12)
    start = time.perf_counter()
    different, frequent, longest = summary(TEXT, 12)
    seconds = time.perf_counter() - start
    for word, count in frequent:
        print(f"{count:6} {word}")
    print(f"{different:,} different words; the longest of those that occur twice: {', '.join(longest)}")
    print(f"time: {1e3 * seconds:.1f} ms")
