# SPDX-License-Identifier: ISC
"""The page of weft serve in Chromium: a list to choose from, one trace, one that grows."""
import os
import re
import signal
import struct
import subprocess

from browser import browse
from harness import BUILD, DATA, WEFT, case, equal, main, run, skip, temporary_directory

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
ECHO = os.path.join(BUILD, 'examples', 'echo-server')
PATIENCE = 60


class Server:
    """weft serve on a port of its own, with a run directory of its own."""

    def __init__(self, *arguments):
        refusal = run([WEFT, 'serve', '--listen', '127.0.0.1:0', '/nowhere']).stderr
        if 'without' in refusal:
            skip(refusal.strip())
        if 'without the page' in run([WEFT, 'render', ARP, '-o', '/dev/null', '--format', 'html']).stderr:
            skip('built without the page')
        self.folder = temporary_directory()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(self.folder.name, 'run'))
        os.mkdir(self.env['XDG_RUNTIME_DIR'], 0o700)
        self.process = subprocess.Popen([WEFT, 'serve', '--listen', '127.0.0.1:0', *(arguments or [self.folder.name])],
                                        stdout=subprocess.PIPE, text=True, env=self.env)
        self.url = self.process.stdout.readline().strip()

    def record(self, *command):
        """A program that records where the server looks."""
        out = os.path.join(self.folder.name, 'run', 'recorded.weft')
        return subprocess.Popen([WEFT, 'record', '-o', out, *command], env=self.env, cwd=self.folder.name,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def browse(self, steps, **options):
        seen = browse(self.url, steps, **options)
        elsewhere = [url for url in seen['requests'] if not url.startswith(self.url.split('#')[0])]
        equal(elsewhere, [], 'requests')
        return seen['results']

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.folder.cleanup()


@case
def a_single_trace_opens_at_once():
    with Server(ARP) as server:
        look, = server.browse([['look']], title=os.path.basename(ARP))
    equal(look['opened']['events'], 2954)
    assert 'TCP connect' in look['text'], look['text']
    assert re.match('#trace=[0-9a-f]+', look['hash']), look['hash']


@case
def the_address_says_how_it_is_shown_first():
    with Server('--only', 'TCP', '--theme', 'dark', '--duration', '500ms', ARP) as server:
        look, = server.browse([['look']], title=os.path.basename(ARP))
    assert 'TCP connect' in look['text'], look['text']
    equal(look['background'], 'rgb(22, 25, 29)')
    assert 'filter=TCP' in look['hash'], look['hash']


@case
def the_served_theme_stays_until_the_reader_chooses():
    chosen = ['evaluate', "localStorage.getItem('weft theme')"]
    name = os.path.basename(ARP)
    with Server('--theme', 'dark', ARP) as server:
        first, again, none, own, light = server.browse(
            [['look'], ['linked'], ['reload'], ['opened', name], ['look'], chosen, ['command', 'theme light'], chosen,
             ['linked'], ['reload'], ['opened', name], ['look']], title=name)
    equal([first['background'], again['background'], none], ['rgb(22, 25, 29)'] * 2 + [None])
    equal([own, light['background']], ['light', 'rgb(247, 247, 245)'])


def write_long_trace(path, events):
    """Mirage's CTF: tasks that are created, read and resolved."""
    body = b''.join(struct.pack('<QBQQB' if i % 3 == 0 else '<QBQQ', i * 1000, (0, 1, 2)[i % 3], 0, 1 + i // 3,
                                *([1] if i % 3 == 0 else [])) for i in range(events))
    header = struct.pack('<I16sIHI', 0xc1fc1fc1, bytes.fromhex('05883b8d521a487bb397456ab150680c'),
                         8 * (30 + len(body)), 0, 8 * (30 + len(body)))
    with open(path, 'wb') as file:
        file.write(header + body)


@case
def what_a_tab_cannot_hold_is_said_and_the_page_goes_on():
    with Server(ARP) as server:
        long = os.path.join(server.folder.name, 'long.ctf')
        write_long_trace(long, 300000)
        name = os.path.basename(ARP)
        for pages in 90, 240, 360, 440:
            big, small = server.browse([['choose', long], ['said'], ['look'],
                                        ['choose', ARP], ['opened', name], ['look']], pages=pages, title=name)
            said = big['empty'] or big['notice']
            assert said.startswith('The trace is larger than a browser tab can hold'), (pages, said)
            assert 'weft cut' in said, said
            # What was shown is still there, and named, or a sentence stands in its place.
            assert big['empty'] or big['title'].startswith(name), big
            assert big['empty'] or 'TCP connect' in big['text'], big['text']
            equal(small['opened']['events'], 2954)
            assert 'TCP connect' in small['text'], small['text']


@case
def of_several_one_is_chosen():
    with Server(os.path.dirname(ARP)) as server:
        listed, look = server.browse([['look'], ['press', re.compile('mirage-arp-good').pattern],
                                      ['opened', os.path.basename(ARP)], ['look']], first=[['said']])
    assert 'Traces' in listed['empty'] and 'mirage-block-read.sexp' in listed['traces'], listed
    equal((look['opened']['events'], look['empty']), (2954, None))


@case
def without_a_trace_the_page_says_what_to_do():
    with Server() as server:
        look, = server.browse([['look']], first=[['said']])
    assert 'no trace' in look['empty'] and 'Open a trace' in look['buttons'], look


@case
def a_trace_grows_while_one_looks():
    with Server() as server:
        program = server.record(ECHO, '100000')
        try:
            early, late, paused, later = server.browse(
                [['look'], ['grow'], ['grow'], ['look'],
                 ['key', 'l'], ['wait', 1500], ['look'], ['wait', 1000], ['look']],
                first=[['living', 'echo-server']])
        finally:
            program.terminate()
            program.wait(PATIENCE)
    assert early['opened']['live'] and late['opened']['events'] > early['opened']['events'], (early, late)
    equal(later['opened']['events'], paused['opened']['events'])


@case
def the_end_of_the_program_is_told():
    with Server() as server:
        program = server.record(ECHO, '100000')
        try:
            look, = server.browse([['events', 10001], ['terminate', program.pid], ['noticed'], ['look']],
                                  first=[['living', 'echo-server']])
        finally:
            program.terminate()
            program.wait(PATIENCE)
    assert 'has ended' in look['notice'], look['notice']
    assert not look['opened']['live'] and look['opened']['events'] > 10000, look['opened']


main()
