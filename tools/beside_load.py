#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs a command beside a load, several times: a test that has an opinion about time fails here sooner than elsewhere.

    tools/beside_load.py [--times N] [--share PERCENT] COMMAND…
    tools/beside_load.py --times 3 make check

One process for each processor computes for random stretches, 50 ms on average, and sleeps between them, so that it wants
PERCENT (33) of its processor. The exit status is 1 if the command failed any time.
"""
import argparse
import multiprocessing
import random
import subprocess
import sys
import time

STRETCH_S = 0.05


def load(share):
    """Computes and sleeps by turns until it is killed."""
    while True:
        until = time.thread_time() + random.expovariate(1 / STRETCH_S)
        while time.thread_time() < until:
            pass
        time.sleep(random.expovariate(share / (1 - share) / STRETCH_S))


def run_once(command, share):
    """Returns the exit status of the command, and the seconds that it took."""
    loads = [multiprocessing.Process(target=load, args=(share,), daemon=True) for _ in range(multiprocessing.cpu_count())]
    for each in loads:
        each.start()
    begin = time.monotonic()
    status = subprocess.run(command).returncode
    took = time.monotonic() - begin
    for each in loads:
        each.kill()
        each.join()
    return status, took


def main():
    parser = argparse.ArgumentParser(description='Runs a command beside a load.')
    parser.add_argument('--times', type=int, default=1, metavar='N')
    parser.add_argument('--share', type=int, default=33, metavar='PERCENT', choices=range(1, 100))
    parser.add_argument('command', nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error('no command')
    failures = 0
    for turn in range(arguments.times):
        status, took = run_once(arguments.command, arguments.share / 100)
        failures += status != 0
        print('%d of %d beside a load: exit status %d after %.0f s' % (turn + 1, arguments.times, status, took), flush=True)
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
