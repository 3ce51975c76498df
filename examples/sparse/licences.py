"""TF-IDF and cosine similarities of real texts: the licences of the packages that are installed.

Usage: python licences.py
"""

import re
from importlib.metadata import distributions

import numpy as np

from lancehead import sparse


def licences():
    """The names of packages, and the texts of their licences."""
    found = {}
    for package in distributions():
        for file in package.files or ():
            if re.match(r"(licen[cs]e|copying)", file.name, re.IGNORECASE) and file.suffix in (
                "",
                ".txt",
                ".md",
                ".rst",
            ):
                try:
                    found[package.metadata["Name"]] = file.read_text()
                except (OSError, UnicodeDecodeError):
                    continue
    names = sorted(found, key=str.lower)
    return names, [found[name] for name in names]


def counts(texts):
    """The words of texts, and a matrix with how often each text has each word."""
    numbers, row, col = {}, [], []
    for i, text in enumerate(texts):
        for word in re.findall(r"[a-z]{2,}", text.lower()):
            row.append(i)
            col.append(numbers.setdefault(word, len(numbers)))
    shape = (len(texts), len(numbers))
    # Entries of one place are added: a word is one entry with its count.
    return list(numbers), sparse.csr_array((np.ones(len(row)), (row, col)), shape=shape)


def tf_idf(words):
    """Counts weighed by how few texts have a word, in rows of length 1."""
    texts = words.shape[0]
    idf = np.log((1 + texts) / (1 + words.count_nonzero(axis=0))) + 1
    weighed = (words * idf).tocsr()
    lengths = np.sqrt((weighed * weighed).sum(axis=1))
    return (weighed * (1 / np.where(lengths > 0, lengths, 1))[:, None]).tocsr()


def main():
    names, texts = licences()
    words, table = counts(texts)
    weighed = tf_idf(table)
    similar = weighed @ weighed.T
    print(f"{len(names)} licences, {len(words)} words, {table.nnz} entries, {similar.nnz} pairs with words in common")
    pairs = sparse.triu(similar, 1).tocoo()
    for name in ("numpy", "scipy", "pytest"):
        if name in names:
            i = names.index(name)
            scores = similar[[i]].toarray()[0]
            best = [j for j in np.argsort(-scores, kind="stable") if j != i][:3]
            print(f"like {name}'s: " + ", ".join(f"{names[j]} {scores[j]:.2f}" for j in best))
    print(f"mean similarity {pairs.data.sum() / (len(names) * (len(names) - 1) / 2):.3f}")
    return table, weighed, similar


if __name__ == "__main__":
    main()
