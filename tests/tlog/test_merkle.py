from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import pymerkle  # type: ignore[import-untyped]
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memprove.ledger.tlog.merkle import (
    EMPTY_ROOT,
    Frontier,
    Node,
    NodeReader,
    ProofInvalid,
    check_consistency,
    check_inclusion,
    leaf_hash,
    node_hash,
    nodes_completed,
    prove_consistency,
    prove_inclusion,
    root,
    root_of_leaves,
)

Proof: TypeAlias = list[bytes]

MOST = 70
SIZES = range(MOST + 1)


class InclusionVector(msgspec.Struct):
    index: int
    size: int
    proof: list[str]


class ConsistencyVector(msgspec.Struct):
    old: int
    new: int
    proof: list[str]


class Vectors(msgspec.Struct):
    leaves: list[str]
    roots: list[str]
    inclusion: list[InclusionVector]
    consistency: list[ConsistencyVector]


VECTORS = msgspec.json.decode(
    (Path(__file__).parents[1] / "vectors" / "rfc6962.json").read_bytes(), type=Vectors
)


def unhex(texts: list[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in texts]


def reader(leaves: list[bytes]) -> NodeReader:
    """Store the nodes of a tree as a log does, one append after the other."""
    nodes: dict[tuple[int, int], bytes] = {}

    def read(level: int, index: int) -> bytes:
        return nodes[level, index]

    for size, leaf in enumerate(leaves):
        nodes.update({(level, index): h for level, index, h in nodes_completed(size, leaf, read)})
    return read


def oracle(records: list[bytes]) -> pymerkle.InmemoryTree:
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for record in records:
        tree.append_entry(record)
    return tree


def subproof(old: int, leaves: list[bytes], *, whole: bool) -> Proof:
    """Follow the definition of SUBPROOF in RFC 6962 section 2.1.2 to the letter."""
    if old == len(leaves):
        return [] if whole else [root_of_leaves(leaves)]
    k = max(1 << bit for bit in range(len(leaves)) if 1 << bit < len(leaves))
    if old <= k:
        return [*subproof(old, leaves[:k], whole=whole), root_of_leaves(leaves[k:])]
    return [*subproof(old - k, leaves[k:], whole=False), root_of_leaves(leaves[:k])]


RECORDS = [b"record %d" % number for number in range(MOST)]
LEAVES = [leaf_hash(record) for record in RECORDS]
ROOTS = [root_of_leaves(LEAVES[:size]) for size in SIZES]
READ = reader(LEAVES)
ORACLE = oracle(RECORDS)
CT_LEAVES = [leaf_hash(record) for record in unhex(VECTORS.leaves)]
CT_ROOTS = unhex(VECTORS.roots)
CT_READ = reader(CT_LEAVES)


# The published vectors


@pytest.mark.parametrize("size", range(9))
def test_the_reference_tree_has_the_published_roots(size: int) -> None:
    frontier = Frontier()
    frontier.extend(CT_LEAVES[:size])

    assert root_of_leaves(CT_LEAVES[:size]) == CT_ROOTS[size]
    assert root(size, CT_READ) == CT_ROOTS[size]
    assert frontier.root() == CT_ROOTS[size]


@pytest.mark.parametrize("vector", VECTORS.inclusion)
def test_the_reference_tree_has_the_published_inclusion_proofs(vector: InclusionVector) -> None:
    proof = unhex(vector.proof)

    assert prove_inclusion(vector.index, vector.size, CT_READ) == proof
    check_inclusion(
        CT_LEAVES[vector.index], vector.index, vector.size, proof, CT_ROOTS[vector.size]
    )


@pytest.mark.parametrize("vector", VECTORS.consistency)
def test_the_reference_tree_has_the_published_consistency_proofs(vector: ConsistencyVector) -> None:
    proof = unhex(vector.proof)

    assert prove_consistency(vector.old, vector.new, CT_READ) == proof
    check_consistency(vector.old, vector.new, proof, CT_ROOTS[vector.old], CT_ROOTS[vector.new])


# Every small tree, against the definitions and an independent implementation (whose consistency
# proofs have another form)


@pytest.mark.parametrize("size", SIZES)
def test_every_way_to_a_root_agrees(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier.append(leaf)

    assert frontier.size == size
    assert frontier.root() == root(size, READ) == ROOTS[size] == ORACLE.get_root(size)


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_can_be_proved(size: int) -> None:
    for index in range(size):
        proof = prove_inclusion(index, size, READ)

        # the oracle numbers leaves from 1 and puts the leaf itself before the path
        assert ORACLE.prove_inclusion(index + 1, size).path == [LEAVES[index], *proof]
        check_inclusion(LEAVES[index], index, size, proof, ROOTS[size])


@pytest.mark.parametrize("new", SIZES)
def test_every_earlier_tree_is_proved_to_be_continued(new: int) -> None:
    for old in range(1, new + 1):
        proof = prove_consistency(old, new, READ)

        assert proof == subproof(old, LEAVES[:new], whole=True)
        check_consistency(old, new, proof, ROOTS[old], ROOTS[new])


def test_every_tree_continues_the_empty_one_by_the_empty_proof() -> None:
    for new in SIZES:
        assert prove_consistency(0, new, READ) == []
        check_consistency(0, new, [], EMPTY_ROOT, ROOTS[new])


# Nodes and the frontier


def test_an_append_completes_the_leaf_and_its_full_parents() -> None:
    pair = node_hash(LEAVES[2], LEAVES[3])

    assert nodes_completed(3, LEAVES[3], READ) == [
        (0, 3, LEAVES[3]),
        (1, 1, pair),
        (2, 0, node_hash(node_hash(LEAVES[0], LEAVES[1]), pair)),
    ]
    assert nodes_completed(4, LEAVES[4], READ) == [(0, 4, LEAVES[4])]


def test_the_frontier_completes_the_nodes_that_are_stored() -> None:
    frontier = Frontier()
    nodes: list[Node] = [node for leaf in LEAVES for node in frontier.append(leaf)]

    assert {(level, index): h for level, index, h in nodes} == {
        (level, index): READ(level, index)
        for level in range(MOST.bit_length())
        for index in range(MOST >> level)
    }


@given(leaves=st.lists(st.binary(min_size=32, max_size=32), max_size=300), data=st.data())
def test_a_frontier_goes_on_from_stored_nodes(leaves: list[bytes], data: st.DataObject) -> None:
    size = data.draw(st.integers(0, len(leaves)))
    frontier = Frontier.resume(size, reader(leaves[:size]))

    assert frontier.root() == root_of_leaves(leaves[:size])
    frontier.extend(leaves[size:])
    assert frontier.size == len(leaves)
    assert frontier.root() == root_of_leaves(leaves)


def test_no_proof_is_made_of_what_is_not_in_the_tree() -> None:
    for index, size in [(0, 0), (5, 5), (-1, 5)]:
        with pytest.raises(ValueError, match="has no leaf"):
            prove_inclusion(index, size, READ)
    for old, new in [(6, 5), (-1, 5)]:
        with pytest.raises(ValueError, match="does not continue"):
            prove_consistency(old, new, READ)


# Attacks


def flip(proof: Proof, data: st.DataObject) -> Proof:
    place = data.draw(st.integers(0, len(proof) * 256 - 1))
    element = bytearray(proof[place // 256])
    element[place % 256 // 8] ^= 1 << place % 8
    return [*proof[: place // 256], bytes(element), *proof[place // 256 + 1 :]]


def shorten(proof: Proof, data: st.DataObject) -> Proof:
    place = data.draw(st.integers(0, len(proof) - 1))
    return proof[:place] + proof[place + 1 :]


def lengthen(proof: Proof, data: st.DataObject) -> Proof:
    place = data.draw(st.integers(0, len(proof)))
    extra = data.draw(st.one_of(st.sampled_from(LEAVES + proof + ROOTS), st.binary(max_size=33)))
    return [*proof[:place], extra, *proof[place:]]


def swap(proof: Proof, data: st.DataObject) -> Proof:
    return data.draw(st.permutations(proof))


def cut(proof: Proof, data: st.DataObject) -> Proof:
    """Move the border between two elements: the same bytes in other hashes."""
    place = data.draw(st.integers(0, len(proof) - 1))
    element = proof[place]
    return [*proof[:place], element[:31], element[31:], *proof[place + 1 :]]


MUTATIONS = [flip, shorten, lengthen, swap, cut]
Mutation: TypeAlias = Callable[[Proof, st.DataObject], Proof]


@pytest.mark.parametrize("mutate", MUTATIONS)
@given(data=st.data())
def test_a_changed_inclusion_proof_is_refused(mutate: Mutation, data: st.DataObject) -> None:
    size = data.draw(st.integers(2, MOST))
    index = data.draw(st.integers(0, size - 1))
    proof = prove_inclusion(index, size, READ)
    changed = mutate(proof, data)
    assume(changed != proof)

    with pytest.raises(ProofInvalid):
        check_inclusion(LEAVES[index], index, size, changed, ROOTS[size])


@pytest.mark.parametrize("mutate", MUTATIONS)
@given(data=st.data())
def test_a_changed_consistency_proof_is_refused(mutate: Mutation, data: st.DataObject) -> None:
    new = data.draw(st.integers(2, MOST))
    old = data.draw(st.integers(1, new - 1))
    proof = prove_consistency(old, new, READ)
    changed = mutate(proof, data)
    assume(changed != proof)

    with pytest.raises(ProofInvalid):
        check_consistency(old, new, changed, ROOTS[old], ROOTS[new])


@given(data=st.data())
def test_a_proof_serves_no_other_leaf_place_or_root(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, MOST))
    index = data.draw(st.integers(0, size - 1))
    other = data.draw(st.integers(-1, size).filter(lambda number: number != index))
    proof = prove_inclusion(index, size, READ)

    with pytest.raises(ProofInvalid):
        check_inclusion(leaf_hash(b"another"), index, size, proof, ROOTS[size])
    with pytest.raises(ProofInvalid):
        check_inclusion(LEAVES[index], other, size, proof, ROOTS[size])
    with pytest.raises(ProofInvalid):
        check_inclusion(LEAVES[index], index, size, proof, ROOTS[size - 1])


@given(old=st.integers(1, MOST), new=st.integers(1, MOST))
def test_a_fork_is_not_a_continuation(old: int, new: int) -> None:
    assume(old <= new)
    forked = [*LEAVES[: old - 1], leaf_hash(b"another"), *LEAVES[old:new]]
    forked_root = root_of_leaves(forked)

    with pytest.raises(ProofInvalid):
        check_consistency(old, new, prove_consistency(old, new, READ), ROOTS[old], forked_root)
    with pytest.raises(ProofInvalid):
        check_consistency(
            old, new, prove_consistency(old, new, reader(forked)), ROOTS[old], forked_root
        )


def test_a_shorter_tree_does_not_continue_a_longer_one() -> None:
    with pytest.raises(ProofInvalid, match="does not continue"):
        check_consistency(5, 3, [], ROOTS[5], ROOTS[3])


def test_two_roots_at_one_size_are_refused() -> None:
    with pytest.raises(ProofInvalid, match="two roots at size 5"):
        check_consistency(5, 5, [], ROOTS[5], ROOTS[4])


def test_the_empty_tree_has_one_root_and_one_proof() -> None:
    with pytest.raises(ProofInvalid, match="empty tree"):
        check_consistency(0, 5, [], ROOTS[1], ROOTS[5])
    with pytest.raises(ProofInvalid, match="too long"):
        check_consistency(0, 5, [ROOTS[5]], EMPTY_ROOT, ROOTS[5])
    with pytest.raises(ProofInvalid, match="two roots"):
        check_consistency(0, 0, [], EMPTY_ROOT, ROOTS[1])


def test_a_tree_without_leaves_includes_nothing() -> None:
    with pytest.raises(ProofInvalid, match="has no leaf"):
        check_inclusion(LEAVES[0], 0, 0, [], EMPTY_ROOT)


def test_an_inner_node_does_not_pass_for_a_leaf() -> None:
    inner = node_hash(LEAVES[0], LEAVES[1])

    assert leaf_hash(LEAVES[0] + LEAVES[1]) != inner
    with pytest.raises(ProofInvalid, match="too short"):
        check_inclusion(inner, 0, 4, [node_hash(LEAVES[2], LEAVES[3])], ROOTS[4])


def test_a_byte_is_not_moved_between_a_hash_and_its_sibling() -> None:
    left, right = LEAVES[0] + LEAVES[1][:1], LEAVES[1][1:]
    assert node_hash(left, right) == ROOTS[2]

    with pytest.raises(ProofInvalid, match="has not 32 bytes"):
        check_inclusion(right, 1, 2, [left], ROOTS[2])
    with pytest.raises(ProofInvalid, match="has not 32 bytes"):
        check_consistency(1, 2, [right], left, ROOTS[2])


def test_a_root_does_not_pass_for_that_of_a_larger_tree() -> None:
    with pytest.raises(ProofInvalid, match="too short"):
        check_inclusion(LEAVES[0], 0, 8, prove_inclusion(0, 4, READ), ROOTS[4])
    with pytest.raises(ProofInvalid, match="too short"):
        check_consistency(2, 8, prove_consistency(2, 4, READ), ROOTS[2], ROOTS[4])
    with pytest.raises(ProofInvalid, match="too short"):
        check_consistency(3, 4, [], ROOTS[3], ROOTS[4])


def test_a_root_does_not_pass_for_that_of_a_smaller_tree() -> None:
    above, proof = LEAVES[9], prove_consistency(3, 4, READ)

    with pytest.raises(ProofInvalid, match="too long"):
        check_inclusion(LEAVES[0], 0, 1, [above], node_hash(above, LEAVES[0]))
    with pytest.raises(ProofInvalid, match="too long"):
        check_consistency(
            3, 4, [*proof, above], node_hash(above, ROOTS[3]), node_hash(above, ROOTS[4])
        )


@given(
    st.binary(max_size=40),
    st.integers(-2, 1 << 70),
    st.integers(-2, 1 << 70),
    st.lists(st.binary(max_size=40) | st.binary(min_size=32, max_size=32), max_size=80),
    st.binary(min_size=32, max_size=32),
)
def test_whatever_comes_as_a_proof_is_refused_in_order(
    leaf: bytes, index: int, size: int, proof: Proof, digest: bytes
) -> None:
    assume(leaf != digest)
    with pytest.raises(ProofInvalid):
        check_inclusion(leaf, index, size, proof, digest)
    assume(index != 0)
    with pytest.raises(ProofInvalid):
        check_consistency(index, size, proof, leaf, digest)
