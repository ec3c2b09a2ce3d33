"""How much faster is the engine than plain Python, on the same work with the same result?

Each benchmark is a module to be run from the project's root, such as ``python -m benchmarks.tree``.
The plain-Python versions are the oracles of the tests.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
