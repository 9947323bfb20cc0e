"""The version of this program: that of pyproject.toml, which a test compares.

``importlib.metadata`` would tell it too, and import a mail parser to do so.
"""

from typing import Final

VERSION: Final = "0.1.0"


def tell() -> None:
    """Print the version."""
    from memprove.cli.output import Output  # late: the server prints nothing

    Output().print(f"memprove {VERSION}")
