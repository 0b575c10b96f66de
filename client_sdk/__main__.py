"""``python -m client_sdk``."""

import sys

from client_sdk.cli import main

sys.exit(main())
