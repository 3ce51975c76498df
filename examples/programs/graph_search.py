"""Word ladders, by breadth-first search in a graph that is a dictionary of lists.

Two words of one length are neighbours if they differ in one letter. The words are those of the help of Python's own
language.
"""

import time
from pydoc_data import topics

from lancehead import njit

TEXT = "\n".join(topics.topics.values())
LADDERS = [("code", "list"), ("true", "main"), ("loop", "read"), ("set", "for"), ("while", "print")]


@njit
def words_of(text):
    """The different words of lower-case letters, in the order of first occurrence."""
    words = {}
    for word in text.split():
        if word.isascii() and word.isalpha() and word.islower():
            words[word] = True
    return list(words)


@njit
def neighbours_of(words):
    """For each word the words that differ from it in one letter."""
    similar = {}
    for word in words:
        for i in range(len(word)):
            similar.setdefault(word[:i] + "_" + word[i + 1 :], []).append(word)
    graph = {word: [""] for word in words}
    for group in similar.values():
        for word in group:
            for other in group:
                if other != word:
                    graph[word].append(other)
    return {word: sorted(others[1:]) for word, others in graph.items()}


@njit
def shortest_path(graph, start, goal):
    """The words on a shortest path; an empty list if there is none."""
    before = {start: start}
    queue = [start]
    for word in queue:
        if word == goal:
            path = [word]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for other in graph[word]:
            if other not in before:
                before[other] = word
                queue.append(other)
    return queue[:0]


@njit
def ladders(text, pairs):
    """The number of words, and a shortest path for each pair."""
    graph = neighbours_of(words_of(text))
    return len(graph), [shortest_path(graph, start, goal) for start, goal in pairs]


if __name__ == "__main__":
    ladders(TEXT, LADDERS)
    start = time.perf_counter()
    count, paths = ladders(TEXT, LADDERS)
    seconds = time.perf_counter() - start
    for (first, last), path in zip(LADDERS, paths):
        print(f"{first} to {last}:", " ".join(path) or "no way")
    print(f"{count:,} words")
    print(f"time: {1e3 * seconds:.1f} ms")
