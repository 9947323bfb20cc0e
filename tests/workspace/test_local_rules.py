"""Attributes and patterns that one clone has for itself."""

import os
from pathlib import Path

import pytest

from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.local_rules import (
    LARGEST,
    has_patterns,
    refuse_attributes,
    refuse_unreadable,
)

HARMLESS = (
    b"",
    b"# *.py ident\n",
    b"  \t\n  # *.py ident\r\n",
    b"*.pdf diff=pdf merge=binary\n",
    b"*.lock -diff\r\n*.po !merge whitespace=tab-in-indent\n",
    b"\xef\xbb\xbf# comment\n",
    b"*.py\n",
    b"*.ipynb filter=notebook diff=notebook\n",
)

HARMFUL = (
    b"*.py ident\n",
    b"*.py\tident",
    b" *.py diff=python ident\n",
    b"*.py text\n",
    b"*.py -text\n",
    b"*.py !eol\n",
    b"*.py eol=lf\n",
    b"*.py crlf=input\n",
    b"*.py binary\n",
    b"*.py working-tree-encoding=UTF-16\n",
    b"*.py filter=other\n",
    b"*.py -filter\n",
    b"*.py filter\n",
    b"*.py diff\n",  # perhaps a macro, of any file
    b"[attr]diff ident\n",
    b"[attr]harmless -diff\n",
    b'"a b" ident\n',
    b"*.py -diff\r# ident\n",  # a carriage return begins no line
    b"\x0b# ident\n",  # nor is a vertical tab a blank
    b"\x0c ident\n",
    b"\xef\xbb\xbf*.py ident\n",
    b"# one\n*.py ident\n",
)


@pytest.mark.parametrize("content", HARMLESS)
def test_attributes_that_leave_content_alone_are_no_hindrance(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "attributes").write_bytes(content)

    refuse_attributes(tmp_path, frozenset({"notebook"}))


@pytest.mark.parametrize("content", HARMFUL)
def test_attributes_that_could_change_content_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "attributes").write_bytes(content)

    with pytest.raises(Unknown, match=r"^attributes_local: info/attributes$"):
        refuse_attributes(tmp_path, frozenset({"notebook"}))


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", "info/attributes"])
@pytest.mark.parametrize("kind", ["device", "pipe", "huge"])
def test_what_git_could_read_without_end_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    refuse_unreadable(tmp_path, tmp_path / "info")
    if kind == "device":
        (tmp_path / name).symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, LARGEST + 1)

    with pytest.raises(Unknown, match=rf"^rules_unreadable: {name}$"):
        refuse_unreadable(tmp_path, tmp_path / "info")


def test_the_null_device_is_no_file_of_patterns(tmp_path: Path) -> None:
    (tmp_path / "exclude").symlink_to(os.devnull)

    refuse_unreadable(tmp_path, tmp_path)

    assert not has_patterns(tmp_path / "exclude")
    assert not has_patterns(Path(os.devnull))
    assert not has_patterns(tmp_path / "missing")
    assert not has_patterns(tmp_path / "exclude" / "below a file")


def test_a_comment_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "exclude").write_text("# *.log\n\n")
    assert not has_patterns(tmp_path / "exclude")

    (tmp_path / "exclude").write_text("# one\n*.log\n")
    assert has_patterns(tmp_path / "exclude")
