# SPDX-License-Identifier: ISC
"""The lab itself: dom0 of a real Xen has its tools, and runs weft."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
from harness import WEFT, case, equal, main, run  # noqa: E402

SCRIPT = r'''
xl info >/out/info
xentrace -D -e all -T 1 /out/trace.xentrace
weft --version >/out/version
'''

_files = {}


def files():
    """The files that the lab returned; it runs once."""
    if not _files:
        _files.update(lab.run(SCRIPT, programs={'weft': WEFT}))
    return _files


@case
def xen_answers():
    assert b'xen_caps               : xen-3.0-x86_64' in files()['info'], files()['info']


@case
def xentrace_captures():
    trace = files()['trace.xentrace']
    equal(trace[:4].hex(), '03f00120', 'the first record')
    assert len(trace) > 10000, len(trace)


@case
def weft_runs_in_dom0():
    equal(files()['version'].decode(), run([WEFT, '--version']).stdout)


main()
