"""Calls leave the counts of references as they were, for values of all kinds and ways in and out."""

import pytest

import references

WAYS = list(references.WAYS)


@pytest.mark.parametrize(("kind", "way"), [(kind, WAYS[k % len(WAYS)]) for k, kind in enumerate(references.KINDS)])
def test_calls_keep_nothing(kind, way, some) -> None:
    # By day one way for each, which go round.
    assert not [text for w in some(WAYS, [way]) for text in references.kept(w, kind, some(10_000, 300))]
