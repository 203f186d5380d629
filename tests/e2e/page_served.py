# SPDX-License-Identifier: ISC
"""The page of weft serve in Chromium: a list to choose from, one trace, one that grows."""
import contextlib
import gzip
import http.server
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import threading

import server as base
from browser import browse
from harness import BUILD, DATA, WEFT, case, equal, main, run, skip, temporary_directory, weft
from hostile_traces import small_packets
from outside_look import compiled, running
from traces_of_hosts import streams_of_two
from waiting import status_of, wait_until
from xen_traces import capture, read, unpack

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
ECHO = os.path.join(BUILD, 'examples', 'echo-server')


class Server(base.Server):
    def __init__(self, *arguments, **options):
        if 'without the page' in run([WEFT, 'render', ARP, '-o', '/dev/null', '--format', 'html']).stderr:
            skip('built without the page')
        self.empty = temporary_directory()
        super().__init__(*(arguments or [self.empty.name]), **options)

    def record(self, *command):
        """A program whose trace will be saved in the directory that is served."""
        out = self.empty.name
        return subprocess.Popen([WEFT, 'record', '-o', out, *command], env=self.env, cwd=self.folder.name,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def browse(self, steps, url=None, elsewhere=(), **options):
        seen = browse(url or self.url, steps, **options)
        strange = [one for one in seen['requests'] if not one.startswith((self.origin, *elsewhere))]
        equal(strange, [], 'requests')
        return seen['results']

    def stop(self, *arguments):
        self.empty.cleanup()
        return super().stop(*arguments)


@case
def a_single_trace_opens_at_once():
    with Server(ARP) as server:
        look, = server.browse([['look']], title=os.path.basename(ARP))
    equal(look['opened']['events'], 2954)
    assert 'ethif.connect' in look['text'], look['text']
    assert re.match('#trace=[0-9a-f]+', look['hash']), look['hash']


@case
def the_address_says_how_it_is_shown_first():
    with Server('--only', 'TCP', '--theme', 'dark', '--duration', '500ms', ARP) as server:
        look, = server.browse([['look']], title=os.path.basename(ARP))
    assert 'TCP connect' in look['text'], look['text']
    equal(look['background'], 'rgb(22, 25, 29)')
    assert 'filter=TCP' in look['hash'], look['hash']
    with Server('--squeeze', ARP) as server:
        look, = server.browse([['look']], title=os.path.basename(ARP))
    assert 'squeeze=on' in look['hash'], look['hash']


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


# Until another part is shown than the one that was remembered, also after the page was loaded again.
REMEMBER = ['evaluate', 'void (sessionStorage.events = window.weft.opened.events)']
ANOTHER = ['evaluate', 'new Promise(done => { const look = () => window.weft?.opened && `${window.weft.opened.events}` !== sessionStorage.events ? '
                       'done(window.weft.opened.events) : setTimeout(look, 20); look(); })']


@case
def a_large_trace_is_shown_part_by_part():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'large.weft')
        weft('record', '-a', 'none', '--stream', '-o', path, '--', os.path.join(BUILD, 'tests', 'stream-subject'),
             os.path.join(folder, 'counters'), '30000', '0')
        info = json.loads(weft('info', '--json', path).stdout)
        whole = info['end'] - info['start']
        with Server('--whole', '1M', path) as server:
            first, _, large, count, other, again, shown = server.browse([
                ['look'], REMEMBER, ['command', 'view start=0 duration=%dns' % whole], ['says', 'status', 'too much to be read at once'],
                ['look'], ['command', 'view start=%dns duration=%dns' % (whole * 3 // 4, whole // 200)], ANOTHER, ['look'],
                ['linked'], ['reload'], ['opened', 'large.weft'], ANOTHER, ['look']], title='large.weft')
    assert 0 < first['opened']['events'] < info['events'] / 4, first['opened']
    assert 'not read' in large['text'], large['text']
    assert 0 < count < info['events'] / 4 and count == other['opened']['events'], other['opened']
    assert 'not read' not in other['text'], other['text']
    # The address leads to the same time.
    assert 0 < again == shown['opened']['events'] and 'not read' not in shown['text'], shown


def write_long_trace(path, events):
    """Mirage's CTF: tasks that are created, read and resolved."""
    body = b''.join(struct.pack('<QBQQB' if i % 3 == 0 else '<QBQQ', i * 1000, (0, 1, 2)[i % 3], 0, 1 + i // 3,
                                *([1] if i % 3 == 0 else [])) for i in range(events))
    header = struct.pack('<I16sIHI', 0xc1fc1fc1, bytes.fromhex('05883b8d521a487bb397456ab150680c'),
                         8 * (30 + len(body)), 0, 8 * (30 + len(body)))
    with open(path, 'wb') as file:
        file.write(header + body)


@case
def a_trace_too_large_for_a_tab_is_refused_and_the_page_goes_on():
    with Server(ARP) as server:
        long = os.path.join(server.folder.name, 'long.ctf')
        write_long_trace(long, 300000)
        name = os.path.basename(ARP)
        for pages in 90, 240, 360, 440:
            big, small = server.browse([['choose', long], ['message'], ['look'],
                                        ['choose', ARP], ['opened', name], ['look']], pages=pages, title=name)
            message = big['empty'] or big['notice']
            assert message.startswith('The trace is larger than a browser tab can hold'), (pages, message)
            assert 'weft cut' in message, message
            # The earlier trace is still shown and named, or a sentence replaces it.
            assert big['empty'] or big['title'].startswith(name), big
            assert big['empty'] or 'ethif.connect' in big['text'], big['text']
            equal(small['opened']['events'], 2954)
            assert 'ethif.connect' in small['text'], small['text']


def shown_length(look):
    """Nanoseconds, as the title line says them: "1.234 ms · 567 events"."""
    number, unit = re.search(r'^([\d.]+) (s|ms|µs|ns) · [\d,]+ events', look['text'], re.MULTILINE).groups()
    return float(number) * {'s': 1e9, 'ms': 1e6, 'µs': 1e3, 'ns': 1}[unit]


@case
def the_rate_of_cycles_is_what_the_option_says():
    with temporary_directory() as folder:
        path, page, seen = unpack(folder, 'xen-domain-end'), os.path.join(folder, 'page.html'), []
        for rate in '1G', '2G':
            with Server('--cpu-hz', rate, path) as server:
                seen += server.browse([['look']], title=os.path.basename(path))
            weft('render', '--cpu-hz', rate, '-o', page, path)
            seen += browse('file://' + page, [['look']], os.path.basename(path))['results']
    slow, slow_page, fast, fast_page = map(shown_length, seen)
    equal((slow, fast), (slow_page, fast_page))
    assert 1.99 < slow / fast < 2.01, (slow, fast)


@case
def many_small_packets_fit_into_a_tab():
    with Server(ARP) as server:
        path = os.path.join(server.folder.name, 'small.weft')
        small_packets(20000, path)  # 64 KiB for each would be 1.3 GB
        look, = server.browse([['choose', path], ['opened', 'small.weft'], ['look']], pages=2048,
                              title=os.path.basename(ARP))
        equal(look['opened']['events'], 20000)


@case
def a_compressed_file_that_holds_too_much_is_given_up():
    with Server(ARP) as server:
        path = os.path.join(server.folder.name, 'bomb.gz')
        with gzip.open(path, 'wb') as file:
            for _ in range(160):
                file.write(bytes(1 << 20))
        look, = server.browse([['choose', path], ['message'], ['look']], title=os.path.basename(ARP))
        message = look['empty'] or look['notice']
        assert 'gzip -d' in message, message


@case
def of_several_one_is_chosen():
    with Server(os.path.dirname(ARP)) as server:
        listed, look = server.browse([['look'], ['press', re.compile('mirage-arp-good').pattern],
                                      ['opened', os.path.basename(ARP)], ['look']], first=[['message']])
    assert 'Traces' in listed['empty'] and 'mirage-block-read.sexp' in listed['traces'], listed
    equal((look['opened']['events'], look['empty']), (2954, None))


@case
def a_button_leads_back_to_the_list():
    good, block = os.path.basename(ARP), 'mirage-block-read.sexp'
    with Server(os.path.dirname(ARP)) as server:
        press_list = ['evaluate', "document.querySelector('[aria-label^=\"Open another trace\"]').click()"]
        _, listed, back, other, _, first = server.browse(
            [['press', good], ['opened', good], press_list, ['message'], ['look'], ['key', 'Escape'], ['look'],
             ['command', 'open trace'], ['press', block], ['opened', block], ['look'],
             press_list, ['press', '← ' + block], ['look']], first=[['message']])
    assert 'Traces' in listed['empty'] and block in listed['traces'] and '← ' + good in listed['traces'], listed
    equal((back['empty'], back['opened']['events'], back['focus']), (None, 2954, 'canvas'))
    equal((other['title'], first['title'], first['empty']), (block + ' – weft', block + ' – weft', None))


@case
def all_of_one_boot_are_chosen_as_one():
    with temporary_directory() as folder:
        hello = os.path.join(BUILD, 'examples', 'hello')
        weft('record', '--size', '64K', '-o', folder + '/', '--', 'sh', '-c',
             '%s > /dev/null; %s > /dev/null' % (hello, hello))
        names = sorted(os.listdir(folder))
        shutil.copy(ARP, folder)
        shutil.copy(os.path.join(folder, names[0]), os.path.join(folder, 'z-copy.weft'))
        events = sum(events_of(os.path.join(folder, name)) for name in names)
        title = names[0] + ' and 2 more'
        with Server(folder) as server:
            listed, look, again = server.browse(
                [['look'], ['press', 'All 3 traces of one boot'], ['opened', title], ['look'],
                 ['reload'], ['opened', title], ['look']], first=[['message']])
    assert 'as one: ' + title in listed['traces'], listed['traces']
    equal((look['opened']['events'], look['opened']['damage']), (events, []))
    assert 'Left out of 3 files:\n' in look['notice'] and 'is a part of the same recording as' in look['notice'], look['notice']
    assert re.match('#trace=boot[0-9a-f]{32}', look['hash']), look['hash']
    equal(again['opened']['events'], events)


@case
def without_a_trace_the_page_says_what_to_do():
    with Server() as server:
        look, = server.browse([['look']], first=[['message']])
    assert 'recorded here yet' in look['empty'] and 'Open a trace' in look['buttons'], look


@case
def a_trace_grows_while_it_is_shown():
    with Server() as server:
        program = server.record(ECHO, '100000')
        try:
            buttons = ['evaluate', 'document.getElementById("controls").innerHTML']
            early, late, live, paused, later, still = server.browse(
                [['look'], ['grow'], ['grow'], ['look'], buttons,
                 ['key', 'l'], ['wait', 1500], ['look'], ['wait', 1000], ['look'], buttons],
                first=[['living', 'echo-server']])
        finally:
            program.terminate()
            status_of(program)
    assert early['opened']['live'] and late['opened']['events'] > early['opened']['events'], (early, late)
    assert re.search(r'^live · \d+\.\d s behind$', late['text'], re.MULTILINE), late['text']
    assert 'Click: pause ( l )' in live and 'Click: go on ( l )' in still, (live, still)
    assert re.search('^paused$', later['text'], re.MULTILINE), later['text']
    equal(later['opened']['events'], paused['opened']['events'])


@case
def the_newest_seconds_stay_in_view():
    with Server() as server:
        program = server.record(ECHO, '100000')
        try:
            before, after = server.browse(
                [['grow'], ['key', 'L'], ['wait', 1000], ['look'], ['grow'], ['wait', 1000], ['look']],
                first=[['living', 'echo-server']])
        finally:
            program.terminate()
            status_of(program)
    for look in (before, after):
        assert '&last=5s' in look['hash'] and 'start=' not in look['hash'], look['hash']
    assert after['opened']['events'] > before['opened']['events'], after['opened']


@case
def the_end_of_the_program_is_shown():
    with Server() as server:
        program = server.record(ECHO, '100000')
        try:
            look, later = server.browse([['events', 10001], ['terminate', program.pid], ['noticed'], ['wait', 500], ['look'],
                                         ['shows', 'echo-server-'], ['look']], first=[['living', 'echo-server']])
        finally:
            program.terminate()
            status_of(program)
    assert 'has ended' in look['notice'], look['notice']
    assert re.search('^ended$', look['text'], re.MULTILINE), look['text']
    assert not look['opened']['live'] and look['opened']['events'] > 10000, look['opened']
    # A little later, the saved trace takes the place of the live one, and is known to be the same.
    assert re.search('^ended$', later['text'], re.MULTILINE), later['text']
    assert re.search(r'^echo-server-\d+\.weft', later['text'], re.MULTILINE), later['text']


# Appends the rest of a capture, then marks of both pCPUs for ever.
XENTRACE = '''
import sys, time
sys.path.insert(0, sys.argv[1])
from xen_traces import record, window
with open(sys.argv[2], 'rb') as rest, open(sys.argv[3], 'ab', buffering=0) as file:
    print('ready', flush=True)
    while piece := rest.read(20011):
        file.write(piece)
        time.sleep(0.02)
    cycles = int(sys.argv[4])
    while True:
        cycles += 200000000
        file.write(window(0, record(0x28001, cycles, 1)) + window(1, record(0x28001, cycles, 2)))
        time.sleep(0.05)
'''


@case
def a_trace_of_xen_grows_while_it_is_shown():
    content = capture('xen-domain-create')  # a domain that comes later
    last = max(r[2] for records in read(content).values() for r in records if r[2])
    with temporary_directory() as folder:
        path, rest = os.path.join(folder, 'growing.xentrace'), os.path.join(folder, 'rest')
        for name, part in (path, content[:200000]), (rest, content[200000:]):
            with open(name, 'wb') as file:
                file.write(part)
        with subprocess.Popen([sys.executable, '-c', XENTRACE, os.path.dirname(__file__), rest, path, str(last)], stdout=subprocess.PIPE) as writer:
            try:
                equal(writer.stdout.readline(), b'ready\n')
                with Server('--cpu-hz', '2596M', path) as server:
                    early, late, ended = server.browse(
                        [['look'], ['grow'], ['grow'], ['look'], ['terminate', writer.pid], ['noticed'], ['wait', 500], ['look']],
                        first=[['living', 'growing.xentrace']])
            finally:
                writer.kill()
        events = json.loads(weft('info', '--json', '--cpu-hz', '2596M', path).stdout)['events']
    assert early['opened']['live'] and late['opened']['events'] > early['opened']['events'], (early, late)
    assert re.search(r'^live · \d', late['text'], re.MULTILINE), late['text']
    assert 'has ended' in ended['notice'] and not ended['opened']['live'], ended
    equal(ended['opened']['events'], events)


# ---- Several processes ----

def hello_in(folder):
    """Records hello; its trace's path."""
    before = set(os.listdir(folder))
    weft('record', '--size', '64K', '-o', folder + '/', '--', os.path.join(BUILD, 'examples', 'hello'))
    name, = set(os.listdir(folder)) - before
    return os.path.join(folder, name)


def events_of(*files):
    return json.loads(weft('info', '--json', *files).stdout)['events']


@case
def a_directory_is_one_trace_that_grows():
    """The page waits for the first process, and shows each further one without being asked."""
    with temporary_directory() as elsewhere, Server() as server:
        files = [hello_in(elsewhere) for _ in range(3)]
        served = [os.path.join(server.empty.name, os.path.basename(file)) for file in files]
        counts = [events_of(*files[:count]) for count in (1, 2, 3)]
        copies = [['copy', files[i], served[i]] for i in range(3)]
        waiting, one, two, back, _, three = server.browse(
            [['look'], copies[0], ['opened', os.path.basename(files[0])], ['look'],
             copies[1], ['events', counts[1]], ['look'],
             # A trace that is chosen from the list stays.
             ['command', 'open trace'], ['press', os.path.basename(files[0]) + '0.'], ['opened', os.path.basename(files[0])],
             copies[2], ['wait', 2500], ['look'],
             ['evaluate', 'history.back()'], ['events', counts[2]], ['look']], first=[['message']])
    assert 'recorded here yet' in waiting['empty'], waiting
    names = sorted(os.path.basename(file) for file in files)
    equal([look['opened']['events'] for look in (one, two, back, three)], [counts[0], counts[1], counts[0], counts[2]])
    for look in one, two, three:
        assert look['hash'].startswith('#trace=all'), look['hash']
        assert not look['opened']['live'] and look['notice'] == '' and look['empty'] is None, look
    equal(three['title'], names[0] + ' and 2 more – weft')
    assert names[0] + ' and 2 more' in three['text'], three['text']


@case
def a_directory_of_two_hosts_is_one_trace():
    with temporary_directory() as elsewhere, Server() as server:
        files = [hello_in(elsewhere) for _ in range(2)]
        with open(files[1], 'r+b') as file:
            file.seek(88)  # its uuid and its boot id
            file.write(b'another buffer!!another boot!!!!')
        for path in files:
            os.rename(path, os.path.join(server.empty.name, os.path.basename(path)))
        names = sorted(os.listdir(server.empty.name))
        both, = server.browse([['opened', names[0] + ' and 1 more'], ['look']], first=[])
        equal(both['opened']['events'], events_of(*(os.path.join(server.empty.name, name) for name in names)))
        assert 'nothing aligns its clock' in both['notice'], both['notice']
        with Server('--no-align', server.empty.name) as other:
            raw, = other.browse([['opened', names[0] + ' and 1 more'], ['look']], first=[])
            assert 'not aligned: times are by each host' in raw['notice'], raw['notice']


def asked_for(seen, path):
    return [url for url in seen['requests'] if '/api/' + path in url]


# Appends the rest of a file in pieces, as soon as another file exists.
APPENDER = '''
import os, sys, time
while not os.path.exists(sys.argv[3]):
    time.sleep(0.05)
with open(sys.argv[1], 'rb') as file:
    data = file.read()
with open(sys.argv[2], 'ab', buffering=0) as file:
    at, step = file.tell(), len(data) // 40
    while at < len(data):
        file.write(data[at:at + step])
        at += step
        time.sleep(0.1)
'''


@case
def a_file_that_grows_is_followed():
    """It is fetched once more when it has grown, and from then on it comes as it grows."""
    with temporary_directory() as elsewhere, Server() as server:
        other = hello_in(server.empty.name)
        stream = os.path.join(elsewhere, 'stream.weft')
        weft('record', '--stream', '-o', stream, '--', ECHO, '3000')
        with open(stream, 'rb') as file:
            data = file.read()
        growing = os.path.join(server.empty.name, 'stream.weft')
        with open(growing, 'wb') as file:
            file.write(data[:len(data) // 4])
        early, all_events = events_of(growing, other), events_of(stream, other)
        go_on = os.path.join(elsewhere, 'go on')
        with subprocess.Popen([sys.executable, '-c', APPENDER, stream, growing, go_on]):
            seen = browse(server.url, [['look'], ['write', go_on, ''], ['grow'], ['look'], ['events', all_events], ['look']],
                          title=os.path.basename(other) + ' and 1 more')
    first, grown, last = seen['results']
    equal([first['opened']['events'], last['opened']['events']], [early, all_events])
    assert not first['opened']['live'] and grown['opened']['events'] < all_events, (first, grown)
    # At first both files, then the one that grows as it grows; its end may be read from the file.
    equal(len(asked_for(seen, 'parts/')), 1)
    assert len(asked_for(seen, 'trace/')) <= 3, seen['requests']


LONGER = """new Promise(done => {
    const length = () => window.weft.text().match(/still waits for futex · [^\\n]*/)[0], first = length();
    const look = () => length() === first ? setTimeout(look, 100) : done(true);
    look();
})"""


@case
def a_process_that_records_nothing_is_shown_from_outside():
    """Its threads do nothing, but time passes."""
    with running(compiled('outside_subject', '-O0'), 'deadlock', threads=3) as process, Server(str(process.pid)) as server:
        live, longer, ended = server.browse([['shows', 'live · '], ['look'], ['evaluate', LONGER], ['terminate', process.pid], ['shows', '\nended'], ['look']],
                                            title='outside_subject-%d (from outside)' % process.pid)
    assert live['opened']['live'] and longer and not ended['opened']['live'], (live, ended)
    assert live['hash'].startswith('#trace=all'), live['hash']


def sentence_of(look):
    sentence, = re.findall('^host beta: (.*)$', look['notice'], re.M)
    return sentence


@case
def hosts_are_aligned_while_their_traces_grow():
    """Later messages bound the clocks better."""
    with temporary_directory() as elsewhere, Server() as server:
        streams = streams_of_two(elsewhere)
        growing, go_on = os.path.join(server.empty.name, 'beta.weft'), os.path.join(elsewhere, 'go on')
        other = shutil.copy(streams[0], server.empty.name)
        with open(streams[1], 'rb') as file:
            data = file.read()
        with open(growing, 'wb') as file:
            file.write(data[:len(data) // 2])
        early, all_events = events_of(other, growing), events_of(*streams)
        with subprocess.Popen([sys.executable, '-c', APPENDER, streams[1], growing, go_on]):
            seen = browse(server.url, [['look'], ['write', go_on, ''], ['grow'], ['look'], ['events', all_events], ['look']], title='alpha.weft and 1 more')
        said = re.search('^host beta: (.*)$', weft('merge', *streams, '-o', os.path.join(elsewhere, 'both')).stderr, re.M)[1]
    first, grown, last = seen['results']
    equal([first['opened']['events'], last['opened']['events'], sentence_of(last)], [early, all_events, said])
    assert 'moved by ' in said and sentence_of(first) != said, (sentence_of(first), said)
    assert sentence_of(grown)
    equal(len(asked_for(seen, 'parts/')), 0)


def send_when(path, file, line):
    """Sends a line as soon as a file exists."""
    wait_until(path, lambda: os.path.exists(path))
    send(file, line)


@contextlib.contextmanager
def run_of_two(folder):
    """Two programs in one run under weft serve: the process of the server, with the input of one program; the FIFO
    of the other; and the address."""
    out, gate = os.path.join(folder, 'out'), os.path.join(folder, 'gate')
    os.mkdir(out)
    os.mkfifo(gate)
    subject = os.path.join(BUILD, 'tests', 'follow-subject')
    with subprocess.Popen([WEFT, 'serve', '--run', '--listen', '127.0.0.1:0', '-o', out, '--', 'sh', '-c',
                           '%s < %s & %s; wait' % (subject, gate, subject)], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, 'XDG_RUNTIME_DIR': folder}) as process:
        try:
            yield process, gate, process.stderr.readline().split()[-1]
        except BaseException:
            process.terminate()  # of a failed case: it would wait for its programs
            raise


def await_end(process):
    line = ''
    while 'until Ctrl-C' not in line:
        line = process.stderr.readline()


def send(file, line):
    file.write('%s\n' % line)
    file.flush()


@case
def processes_of_a_run_are_one_live_trace():
    """From the first to the last process: rings while they run, then the files in their place."""
    with temporary_directory() as folder:
        with run_of_two(folder) as (process, gate, url):
            with open(gate, 'w', encoding='utf-8') as other:
                send(process.stdin, 100)
                send(other, 50)
                early, = browse(url, [['events', 150], ['look']], first=[['opened']])['results']
                steps = [['write', gate, '25\n'], ['events', early['opened']['events'] + 25], ['look'], ['key', 'l'],
                         ['write', gate, '25\n'], ['wait', 2500], ['look'], ['key', 'l'], ['events', early['opened']['events'] + 50]]
                seen = browse(url, steps, first=[['events', 150]])
                late, paused = seen['results']
                # One connection for both rings, whose events come once.
                equal([len(asked_for(seen, 'parts/')), len(asked_for(seen, 'trace/'))], [1, 0])
                process.stdin.close()
            await_end(process)
            ended, = browse(url, [['look']], first=[['opened']])['results']
            process.terminate()
            status_of(process)
        equal(ended['opened']['events'], events_of(os.path.join(folder, 'out')))
    for look in early, late, paused:
        assert look['opened']['live'] and look['title'] == 'follow-subject and 1 more – weft', look
    equal(paused['opened']['events'], late['opened']['events'])
    assert not ended['opened']['live'], ended['opened']


@case
def a_program_that_is_stopped_in_an_event_holds_up_no_other():
    """Until it goes on: then its events are shown, too."""
    with temporary_directory() as folder:
        with run_of_two(folder) as (process, gate, url):
            with open(gate, 'w', encoding='utf-8') as other:
                send(process.stdin, 100)
                send(other, 50)
                more, go_on = os.path.join(folder, 'more'), os.path.join(folder, 'go on')
                steps = [['write', gate, 'moment %s\n25\n' % go_on], ['wait', 500], ['write', more, ''], ['events', 250], ['look'],
                         ['write', go_on, ''], ['events', 276]]
                threading.Thread(target=send_when, args=(more, process.stdin, 100)).start()
                early, = browse(url, steps, first=[['events', 150]])['results']
                process.stdin.close()
            await_end(process)
            process.terminate()
            status_of(process)
        equal(events_of(os.path.join(folder, 'out')), 276)
    # On a busy machine, the page has given up the mark already, and shows the event that the moment has so far.
    assert early['opened']['events'] in (250, 251), early


# ---- The token ----

WHERE = ['evaluate', '[location.href, history.length, document.referrer, document.cookie, document.body.innerText]']


@case
def the_token_does_not_stay_in_the_address():
    with Server(ARP) as server:
        where, look = server.browse([WHERE, ['reload'], ['opened', os.path.basename(ARP)], ['look']], title=os.path.basename(ARP))
    assert server.token in server.url
    assert where[0].startswith(server.origin + '#trace='), where
    equal((server.token in repr(where), where[2], where[3]), (False, '', ''))
    equal(look['opened']['events'], 2954)


@case
def without_the_token_the_browser_says_where_it_is():
    with Server(ARP) as server:
        url = server.origin + '#view'
        answer, = server.browse([['evaluate', 'document.body.innerText']], url=url, first=[], loud=True)
    assert answer.startswith('Nothing is shown without the token. Open the address that weft printed'), answer
    assert 'mirage' not in answer


@case
def open_pages_notice_that_a_server_was_restarted():
    with Server(ARP) as first:
        # The same port, and another token.
        restarted = 'weft serve was started again'
        steps = [['terminate', first.process.pid], ['wait', 1500], ['command', 'open trace'], ['wait', 500], ['look'],
                 ['restart', [WEFT, 'serve', '--listen', '127.0.0.1:%d' % first.port, ARP]], ['command', 'open trace'],
                 ['wait', 500], ['look']]
        down, again = first.browse(steps, title=os.path.basename(ARP), loud=True)
        assert 'weft serve does not answer' in down['empty'], down['empty']
        assert restarted in again['empty'], again['empty']


@case
def a_link_on_another_site_finds_the_cookie():
    """The browser first sends no cookie, because of SameSite=Strict; the page then requests itself again."""
    with Server(ARP) as server, temporary_directory() as folder:
        name = os.path.basename(ARP)
        link = server.origin + '#trace=%s&view&filter=TCP' % base.id_of(server, name)
        with open(os.path.join(folder, 'index.html'), 'w', encoding='utf-8') as page:
            page.write('<!DOCTYPE html><title>x</title><a href="%s">see</a>' % link.replace('&', '&amp;'))

        class Site(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site) as site:
            threading.Thread(target=site.serve_forever, daemon=True).start()
            other = 'http://localhost:%d/' % site.server_address[1]  # another site than 127.0.0.1
            look, = server.browse([['visit', other], ['follow', 'see'], ['opened', name], ['look']], title=name,
                                  elsewhere=[other], loud=True)
            site.shutdown()
    equal(look['opened']['events'], 2954)
    assert 'filter=TCP' in look['hash'], look['hash']


@case
def the_browser_that_open_starts_shows_the_trace():
    with temporary_directory() as folder:
        script, seen = os.path.join(folder, 'browser'), os.path.join(folder, 'seen')
        with open(script, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\necho "$1" > %s.new && mv %s.new %s\n' % ((shlex.quote(seen),) * 3))
        os.chmod(script, 0o700)
        with Server('--open', '--only', 'TCP', ARP, env={'BROWSER': script}) as server:
            url = wait_until('the browser', lambda: os.path.exists(seen) and open(seen, encoding='utf-8').read().strip())
            where, look = server.browse([WHERE, ['look']], url=url, title=os.path.basename(ARP), elsewhere=[url], loud=True)
            equal(where[0].startswith(server.origin + '#trace='), True, where)
    equal(look['opened']['events'], 2954)
    assert 'filter=TCP' in look['hash'], look['hash']


main()
