"""`python -m lancehead` is the `lancehead` command."""

import sys

from lancehead.cli import main

sys.exit(main())
