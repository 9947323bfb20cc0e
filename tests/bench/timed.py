"""Run a command; say its exit code, its seconds and its peak memory in bytes on stderr, as JSON.

A process of its own, because a child begins with the peak of the process that started it.
"""

import json
import resource
import subprocess
import sys
import time

began = time.perf_counter()
code = subprocess.run(sys.argv[1:], check=False).returncode
taken = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
bytes_each = 1 if sys.platform == "darwin" else 1024
print(json.dumps([code, taken, peak * bytes_each]), file=sys.stderr)
