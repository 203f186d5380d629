# SPDX-License-Identifier: ISC
"""The results of lanes for the contents of the work tree: one file for each tree and lane, in git's folder.

A tree's name is that of git for the contents of all files which git tracks or would track, thus also of what is not committed.
It equals `git rev-parse HEAD^{tree}` if everything is committed. The stamps are in git's folder and not in a build folder,
because `make clean` makes nothing untested. Without git there are none.

Each line of a file is the result of a test that passed, as JSON; after the last test a line with the totals is the stamp.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

from builds import SOURCE
from runner import Result


def git(*arguments, **environment):
    """The output of git, without the end of the line, or None if it fails."""
    try:
        result = subprocess.run(['git', *arguments], cwd=SOURCE, env=dict(os.environ, **environment), capture_output=True,
                                text=True, check=False)
    except FileNotFoundError:
        return None
    return result.stdout.rstrip('\n') if result.returncode == 0 else None


def tree():
    """The name of the work tree's contents, or None. git's index and its objects stay as they are."""
    index, objects = (git('rev-parse', '--path-format=absolute', '--git-path', name) for name in ('index', 'objects'))
    if not objects:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy, new = os.path.join(folder, 'index'), os.path.join(folder, 'objects')
        os.mkdir(new)
        if os.path.exists(index):
            shutil.copy2(index, copy)
        environment = {'GIT_INDEX_FILE': copy, 'GIT_OBJECT_DIRECTORY': new, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': objects}
        added = git('add', '--all', **environment)
        return None if added is None else git('write-tree', **environment)


class Stamp:
    """The results of a lane for a tree. Of tree None nothing is kept."""

    def __init__(self, tree_name, lane):
        self.results, self.totals, self.path = {}, None, None
        if not tree_name:
            return
        folder = git('rev-parse', '--path-format=absolute', '--git-path', 'weft-checked')
        self.path = os.path.join(folder, tree_name, lane)
        if os.path.exists(self.path):
            with open(self.path, encoding='utf-8') as file:
                self.read(file)

    def read(self, lines):
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a run was killed when it wrote this
            if 'name' in entry:
                self.results[entry['name']] = Result(**entry)
            else:
                self.totals = entry

    def append(self, entry):
        if self.path:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, 'a', encoding='utf-8') as file:
                file.write(json.dumps(entry) + '\n')

    def keep(self, result):
        """Keeps the result of a test that passed."""
        self.append({'name': result.name, 'passed': result.passed, 'skips': result.skips, 'processor_s': round(result.processor_s, 2)})

    def complete(self, passed, skipped):
        self.append({'passed': passed, 'skipped': skipped, 'at': time.strftime('%Y-%m-%d %H:%M')})

    def forget(self):
        if self.path and os.path.exists(self.path):
            os.remove(self.path)
