"""Reading git's NUL-separated outputs."""

from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.workspace.listing import (
    Difference,
    is_own,
    parse_listing,
    parse_raw,
    path_text,
)

PATHS = st.binary(min_size=1).filter(lambda path: b"\0" not in path)
OID = "0123456789abcdef" * 2 + "01234567"


@given(PATHS, PATHS)
def test_different_paths_have_different_texts(one: bytes, other: bytes) -> None:
    assert (path_text(one) == path_text(other)) == (one == other)


@given(PATHS)
def test_a_path_becomes_valid_text(path: bytes) -> None:
    assert path_text(path).encode("utf-8")


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert path_text("dir/é\n".encode() + b"\xff\\x") == "dir/é\n\\xff\\\\x"
    assert path_text(b"\xed\xa0\x80") == "\\xed\\xa0\\x80"


def test_our_folder_is_told_from_names_like_it() -> None:
    assert [
        is_own(path) for path in (b".memprove", b".memprove/x", b".memprove2", b"d/.memprove")
    ] == [
        True,
        True,
        False,
        False,
    ]


@given(st.lists(PATHS, unique=True))
def test_a_raw_difference_is_read_whatever_the_names(paths: list[bytes]) -> None:
    output = b"".join(b":100644 000000 %s %s D\0%s\0" % (OID.encode(), b"0" * 40, p) for p in paths)

    assert list(parse_raw(output)) == [Difference(path, 0o100644, OID, 0, "") for path in paths]


def test_what_stands_out_of_a_listing_is_found() -> None:
    oid = OID.encode()
    listing = parse_listing(
        b"? new\tname\0? nested/\0"
        b"H 100644 %b 0\t.memprove/config.toml\0H 100644 %b 0\ta\0h 100755 %b 0\tassumed\0"
        b"H 120000 %b 0\tlink\0S 100644 %b 0\tskipped\0H 160000 %b 0\tsub\0" % ((oid,) * 6)
    )

    assert listing.untracked == {b"new\tname"}
    assert listing.nested == {b"nested"}
    assert listing.gitlinks == {b"sub"}
    assert listing.assumed == (b"assumed",)
    assert listing.absent == (b"skipped",)
    assert listing.own == (b".memprove/config.toml",)


def test_an_empty_output_says_nothing() -> None:
    assert list(parse_raw(b"")) == []
    assert parse_listing(b"").untracked == frozenset()
