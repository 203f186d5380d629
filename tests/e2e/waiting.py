# SPDX-License-Identifier: ISC
"""Waits without an opinion about time: a busy machine may take as long as it needs.

A wait gives up if what it waits for cannot come any more:
- the process that should bring it has ended;
- that process and its children have used PROCESSOR seconds of processor time without progress;
- nobody uses the processor, and nothing happens: a dead lock. Looks are counted instead of seconds, so that a machine
  which gives the test no turn does not end its patience. At LONGEST_PAUSE between two looks, LOOKS take ten minutes.
"""
import contextlib
import os
import subprocess
import threading
import time

PROCESSOR = 20    # seconds of processor time without progress, for things that happen at once on an idle machine
WORK = 120        # the same for a command that is run to its end
LONGEST_PAUSE = 0.05
LOOKS = 12000
LAST_RESORT = LOOKS * LONGEST_PAUSE  # for sockets, which have no process to look at
TICK = os.sysconf('SC_CLK_TCK')


class GaveUp(AssertionError):
    pass


def process_stat(pid):
    """The fields of /proc/PID/stat from the state on; none if there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open('/proc/%d/stat' % pid, 'rb') as file:
        return file.read().rpartition(b')')[2].split()
    return []


def all_processes():
    """{PID: (parent, processor time of it and of those children that have ended)}"""
    stats = {pid: process_stat(pid) for pid in map(int, filter(str.isdigit, os.listdir('/proc')))}
    return {pid: (int(fields[1]), sum(map(int, fields[11:15])) / TICK) for pid, fields in stats.items() if fields}


def processor_time(roots):
    """The seconds that these processes and all their children have used."""
    processes, total, family = all_processes(), 0, set(roots)
    while family:
        total += sum(processes[pid][1] for pid in family if pid in processes)
        family = {pid for pid, (parent, _) in processes.items() if parent in family}
    return total


def has_ended(process):
    if isinstance(process, int):
        return process_stat(process)[:1] in ([], [b'Z'], [b'X'])
    return process.poll() is not None


def last_words(process):
    """How a process has ended, and what it wrote to standard error so far, if that is a pipe of ours."""
    if isinstance(process, int):
        return 'process %d has ended' % process
    words = b''
    if process.stderr and not process.stderr.closed:
        os.set_blocking(process.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(process.stderr.fileno(), 65536):
                words += piece
    return 'the process ended with %d\n%s' % (process.returncode, words.decode(errors='replace'))


class Patience:
    """Says when a wait for something gives up. `seen` is a function: its value is progress if it changes."""

    def __init__(self, what, process=None, seen=None, processor=PROCESSOR):
        self.what, self.process, self.seen, self.processor = what, process, seen or (lambda: None), processor
        self.looks, self.value, self.used = 0, None, None

    def family(self):
        """The processes whose work counts; without one, all children that there are: no condition is tested now."""
        if self.process is None:
            here = os.getpid()
            return [pid for pid, (parent, _) in all_processes().items() if parent == here]
        return [self.process if isinstance(self.process, int) else self.process.pid]

    def look(self):
        """After each look that found nothing. Raises GaveUp in the end."""
        self.looks += 1
        if self.looks % 16:
            return  # looking at all processes takes longer than most conditions
        before, self.value = self.value, self.seen()
        now = processor_time(self.family())
        if self.used is None or self.value != before:
            self.looks, self.used = 0, now
        if now - self.used > self.processor:
            self.give_up('in %.0f s of processor time' % (now - self.used))
        # Work that may take longer may be looked at more often: on a busy machine, others have the processor.
        if self.looks >= LOOKS * max(1, self.processor / PROCESSOR):
            self.give_up('in %d looks' % self.looks)

    def give_up(self, why):
        raise GaveUp('%s, not: %s%s' % (why, self.what, '' if self.value is None else '; last seen: %r' % (self.value,)))


def wait_until(what, condition, process=None, pause=None, **patience):
    """Waits until the condition gives a true value, and returns that. It looks again after a pause: by default one that grows to
    LONGEST_PAUSE, or longer if looking takes long."""
    patience = Patience(what, process, **patience)
    looks = 0
    while True:
        is_over = process is not None and has_ended(process)
        began = time.monotonic()
        if result := condition():
            return result
        if is_over:
            patience.give_up(last_words(process))
        patience.look()
        looks += 1
        time.sleep(pause or max(min(0.001 * looks, LONGEST_PAUSE), 2 * (time.monotonic() - began)))


def communicate(process, input=None, processor=WORK):
    """The rest of its standard output and standard error, once it has ended."""
    result = []

    def work():  # in a thread: Python forgets the rest of an input when its own wait is over
        try:
            result.append(process.communicate(input))
        except Exception as error:
            result.append(error)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    patience = Patience('the end of %s' % process.args, process, processor=processor)
    while thread.is_alive():
        thread.join(LONGEST_PAUSE)
        patience.look()
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


def status_of(process, processor=WORK):
    """Its exit status, once it has ended."""
    patience = Patience('the end of %s' % process.args, process, processor=processor)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=LONGEST_PAUSE)
        patience.look()


def let_pass(seconds):
    """Makes a silence of at least this length in a trace. Nothing may be concluded from a silence that is longer, nor from
    something that has not happened meanwhile: see let_work."""
    time.sleep(seconds)


def turns(pid):
    """{thread: how often it went to sleep}; a thread that runs, or that would on another processor, counts as different each time."""
    found = {}
    for thread in os.listdir('/proc/%d/task' % pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open('/proc/%d/task/%s/status' % (pid, thread), encoding='utf-8', errors='replace') as file:
            fields = dict(line.split(':', 1) for line in file if ':' in line)
            found[thread] = int(fields['voluntary_ctxt_switches']), fields['State'].split()[0]
    return found


def let_work(process, sleeps=4, pause=LONGEST_PAUSE):
    """Gives a process time for what it is not expected to do: waits until each of its threads has gone to sleep this often since
    the call, or sleeps without a timer."""
    pid = process if isinstance(process, int) else process.pid
    before = turns(pid)
    still = [before, 0]

    def has_worked():
        now = turns(pid)
        still[:] = now, still[1] + 1 if now == still[0] and all(state != 'R' for _, state in now.values()) else 0
        return still[1] > 4 * sleeps or all(now[thread][0] >= before[thread][0] + sleeps for thread in before if thread in now)
    wait_until('process %d sleeps' % pid, has_worked, process, pause=pause)


def follows_a_ring(process):
    """A look through the rings for a PID maps them and watches their processes, too, but only a follower writes to one."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open('/proc/%d/maps' % process.pid) as maps:
        return any(' rw-s ' in line and '.weft' in line for line in maps)
    return False


def wait_until_it_follows(process):
    """Waits until the follower has begun: from then on it misses nothing."""
    wait_until('the follower begins', lambda: process.poll() is not None or follows_a_ring(process))
