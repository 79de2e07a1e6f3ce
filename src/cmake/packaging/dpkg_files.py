# SPDX-License-Identifier: Apache-2.0
"""Asks dpkg which of Debian's packages a file is of."""
import os
import subprocess
import sys


def output(*command): return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def package_of(file):
    """Returns the package that has `file`. dpkg may name the file's folder /lib or /usr/lib, if one is a link to the other."""
    real = os.path.realpath(file)
    for name in (file, real, real.removeprefix("/usr"), "/usr" + real):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True).stdout
        for line in found.splitlines():
            if not line.startswith("diversion "): return line.split(": ")[0].split(",")[0].split(":")[0]
    sys.exit(f"no package of Debian has {file}")
