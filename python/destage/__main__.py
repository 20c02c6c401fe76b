"""`python -m destage` is the command line."""

import sys

from destage._command import main

sys.exit(main())
