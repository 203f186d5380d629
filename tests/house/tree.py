# SPDX-License-Identifier: ISC
"""The project's files, for the house checks."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE  # noqa: E402


def tracked():
    """Paths of all files that git tracks or would track; without git, of all files."""
    result = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'],
                            cwd=SOURCE, capture_output=True, text=True)
    if result.returncode == 0:
        return sorted(p for p in set(result.stdout.splitlines())
                      if os.path.isfile(os.path.join(SOURCE, p)))
    found = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [f for f in folders if f != '.git' and not re.match(r'build(-|$)', f)]
        found += [os.path.relpath(os.path.join(folder, name), SOURCE) for name in names]
    return sorted(found)


def read(path):
    with open(os.path.join(SOURCE, path), encoding='utf-8') as file:
        return file.read()
