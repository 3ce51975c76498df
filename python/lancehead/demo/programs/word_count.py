"""The words of a real text, counted: the help of Python's own language. Texts are keys of a dictionary."""

from pydoc_data import topics

from lancehead import njit
from lancehead.demo.program import Program

MARKS = "\"'`*_.,:;!?()[]{}<>=|-+/"


def plain(text):
    counts = {}
    for part in text.lower().split():
        word = part.strip(MARKS)
        if word:
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@njit
def compiled(text):
    counts = {}
    for part in text.lower().split():
        word = part.strip(MARKS)
        if word:
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def inputs(quick):
    text = "\n".join(topics.topics.values())
    return (text[:10_000] if quick else text * 4,)


PROGRAM = Program(
    name="word_count",
    title="Word count",
    baseline="Python",
    inputs=inputs,
    size=lambda text: f"{len(text):,} characters",
    plain=plain,
    compiled=compiled,
)
