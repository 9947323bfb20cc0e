"""``python -m memprove.cli``: the same as ``memprove``."""

from memprove.cli.main import main

main()
