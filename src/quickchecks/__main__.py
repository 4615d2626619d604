"""`python -m quickchecks` is the command `quickchecks`."""

from __future__ import annotations

from quickchecks.cli import main

if __name__ == "__main__":
    main()
