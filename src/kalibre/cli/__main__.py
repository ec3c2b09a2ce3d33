"""`python -m kalibre.cli` is the command `kalibre`."""

import sys

from kalibre.cli.main import main

sys.exit(main())
