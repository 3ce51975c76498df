"""TF-IDF and cosine similarities of real texts: paragraphs of the help of Python's own language."""

import re
from pydoc_data import topics

import numpy as np
import scipy.sparse

from lancehead import sparse
from lancehead.demo.program import Program


def similarities(words):
    """Of each text the most similar other one, and how similar it is; columns of the table are words."""
    texts = words.shape[0]
    idf = np.log((1 + texts) / (1 + words.count_nonzero(axis=0))) + 1
    weighed = (words * idf).tocsr()
    lengths = np.sqrt((weighed * weighed).sum(axis=1))
    weighed = (weighed * (1 / np.where(lengths > 0, lengths, 1))[:, None]).tocsr()
    similar = weighed @ weighed.T
    similar.setdiag(0.0)
    return similar.max(axis=1).toarray(), similar.sum(axis=1)


def plain(counts):
    return similarities(counts)


def compiled(counts):
    return similarities(sparse.csr_array(counts))


def inputs(quick):
    paragraphs = "\n\n".join(topics.topics.values()).lower().split("\n\n")
    texts = [words for words in (re.findall(r"[a-z]{2,}", text) for text in paragraphs) if len(words) >= 20]
    numbers, row, col = {}, [], []
    for i, words in enumerate(texts[:100] if quick else texts):
        row += [i] * len(words)
        col += [numbers.setdefault(word, len(numbers)) for word in words]
    # Entries of one place are added: a word is one entry with its count.
    return (scipy.sparse.csr_array((np.ones(len(row)), (row, col))),)


PROGRAM = Program(
    name="sparse_tf_idf",
    title="TF-IDF and cosines of texts",
    baseline="SciPy",
    inputs=inputs,
    size=lambda counts: f"{counts.shape[0]:,} paragraphs, {counts.shape[1]:,} words",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
)
