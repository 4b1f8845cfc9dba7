"""The command line: python -m hlsgen, and the script hlsgen."""

from __future__ import annotations

import os
import subprocess
import sys

from ._errors import ProcessError
from ._process import program


def main() -> None:
    """Runs the program with the arguments of this process."""
    try:
        path = program()
    except ProcessError as e:
        sys.exit("error: %s" % e)
    if os.name == "posix":
        os.execv(path, [path] + sys.argv[1:])
    sys.exit(subprocess.run([path] + sys.argv[1:]).returncode)


if __name__ == "__main__":
    main()
