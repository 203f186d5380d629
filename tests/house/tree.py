# SPDX-License-Identifier: ISC
"""The project's files, for the house checks."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE  # noqa: E402


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
    """The text of a file of the project, or of one that the build makes."""
    own = os.path.join(SOURCE, path)
    with open(own if os.path.exists(own) else os.path.join(BUILD, path), encoding='utf-8') as file:
        return file.read()


def made_headers():
    """The names of the headers in include/weft that the build makes."""
    return re.findall(r"'([\w.]+)'", re.search(r'foreach header : \[(.*?)\]', read('include/weft/meson.build')).group(1))


def public_headers():
    """The paths of all headers and tables in include/weft."""
    return ([path for path in tracked() if path.startswith('include/weft/') and not path.endswith('meson.build')]
            + ['include/weft/' + name for name in made_headers()])
