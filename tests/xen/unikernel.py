# SPDX-License-Identifier: ISC
"""A real Xen: dom0 has its tools and runs weft; a unikernel shares its buffer with dom0."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import WEFT, case, equal, json_lines, main, run, temporary_directory, weft  # noqa: E402

SCRIPT = r'''
xl info >/out/info
weft --version >/out/version
xentrace -D -e all /out/trace.xentrace &
tracer=$!
create small guest "extra='pages=64'"
small=$domain
create large guest "extra='pages=1000 id=big-one directory tsc'"
large=$domain
await recorded $small 100
await recorded $large 100
kill -INT $tracer
xenstore-ls /local/domain/$small/data >/out/small.keys
xenstore-ls /local/domain/$large/data >/out/large.keys
map $small weft/0 /out/running.weft
map $large weft/big-one /out/large.weft

await recorded $small 300
tell $small crash
await is_state $small c
map $small weft/0 /out/crashed.weft
xl destroy $small

tell $large stop
await sh -c "xenstore-read /local/domain/$large/data/weft/big-one/state | grep closed"
map $large weft/big-one /out/stopped.weft
tell $large poweroff
'''

_files = {}


def files():
    """The files that the lab returned; it runs once."""
    if not _files:
        _files.update(lab.run(SCRIPT, programs={'weft': WEFT, 'map': programs.for_dom0('map')}, files={'guest': programs.guest()}))
    return _files


def events(name):
    with temporary_directory() as folder:
        path = os.path.join(folder, name)
        with open(path, 'wb') as file:
            file.write(files()[name])
        info, = json_lines(weft('info', '--json', path).stdout)
        return info, json_lines(weft('dump', '--json', path).stdout)


def numbers(name):
    info, found = events(name)
    equal(info['diagnostics'], [], name)
    return [event['value'] for event in found if event['event'] == 'tag']


@case
def dom0_has_xens_tools():
    assert b'xen_caps               : xen-3.0-x86_64' in files()['info'], files()['info']
    trace = files()['trace.xentrace']
    equal(trace[:4].hex(), '03f00120', 'the first record of xentrace')
    assert len(trace) > 10000, len(trace)


@case
def weft_runs_in_dom0():
    equal(files()['version'].decode(), run([WEFT, '--version']).stdout)


@case
def keys_are_those_of_the_document():
    small, large = (files()[name].decode() for name in ('small.keys', 'large.keys'))
    for text in ('format = "1"', 'name = "test guest"', 'pages = "64"', 'ring-ref-0 = "8,9,10,', 'state = "open"'):
        assert text in small, small
    assert 'directory-ref = "' in large and 'ring-ref' not in large and 'big-one' in large, large


@case
def a_running_guest_can_be_read():
    found = numbers('running.weft')
    assert len(found) >= 100, found
    equal(found, list(range(len(found))))


@case
def a_large_buffer_has_a_directory():
    found = numbers('large.weft')
    assert len(found) >= 100, found
    equal(found, list(range(len(found))))


@case
def a_crashed_guest_can_be_read():
    found = numbers('crashed.weft')
    assert len(found) >= 300, found
    equal(found, list(range(found[0], found[-1] + 1)))


@case
def a_stopped_buffer_says_so():
    equal(events('running.weft')[0]['ending'], 'unknown')
    equal(events('stopped.weft')[0]['ending'], 'stop')


main()
