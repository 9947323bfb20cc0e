"""``python -m memprove.cli``: the same as ``memprove``."""

import sys

from memprove.cli.main import main

sys.exit(main())
