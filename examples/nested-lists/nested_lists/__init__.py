"""Nested lists of whole numbers, read from text."""

from nested_lists.lexer import ParseError
from nested_lists.parser import MAX_DEPTH, Nested, parse

__all__ = ["MAX_DEPTH", "Nested", "ParseError", "parse"]
