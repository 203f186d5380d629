# SPDX-License-Identifier: ISC
"""Shared by tests of the formats of Prometheus: the readers that others wrote."""
import os
import shutil
import subprocess
import sys

from harness import equal, json_lines, run, skip

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'metrics_reader.py')


def find_python():
    """A Python that has prometheus_client: Debian's, if it is not our own."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and subprocess.run([python, '-c', 'import prometheus_client'], stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python
    skip('python3-prometheus-client is not installed')
    return None


def families(text, form):
    """{name: family} as prometheus_client reads them; `form` is openmetrics or prometheus."""
    result = run([find_python(), READER, form], input=text, env={'PYTHONIOENCODING': 'utf-8'})
    equal(result.returncode, 0, result.stderr + text)
    return {family['name']: family for family in json_lines(result.stdout)}


def check(text):
    """Asks promtool, which has opinions about style, too."""
    need_promtool()
    result = run(['promtool', 'check', 'metrics'], input=text)
    equal((result.returncode, result.stderr), (0, ''), text)


def need_promtool():
    if not shutil.which('promtool'):
        skip('prometheus is not installed')
