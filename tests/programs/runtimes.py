# SPDX-License-Identifier: ISC
"""Runtimes of languages, and servers whose threads take their work from a queue: cases of check.py."""
import os
import re
import signal
import subprocess

from programs import Trace, case, compare, equal, free_port, load_twice, need, recorded, succeeds, temporary_directory, write
from waiting import wait_until


@case
def erlang():
    """It has a function __sigaction, which stands in front of ours."""
    need('erl')
    script = ('S = self(), [spawn(fun() -> timer:sleep(20 * N), S ! N end) || N <- [1, 2]], '
              '[receive N -> io:format("~p~n", [N]) end || N <- [1, 2]], halt(0).')
    with temporary_directory() as folder:
        trace = compare(['erl', '-noshell', '-eval', script], folder=folder, HOME=folder)
        assert len(trace.named(r'\d+_scheduler')) >= 1, [task['label'] for task in trace.kinds('thread')]
        assert ('beam.smp', 'erl_child_setup') in trace.messages(), trace.messages()


@case
def openmp():
    """Its threads wait by system calls of their own, so that they record nothing."""
    need('gcc')
    with temporary_directory() as folder:
        source, program = os.path.join(folder, 'sum.c'), os.path.join(folder, 'sum')
        write(source, '#include <stdio.h>\nint main(void)\n{\nlong sum = 0;\n#pragma omp parallel for reduction(+ : sum) num_threads(4)\n'
              'for (int i = 0; i < 1000; i++)\nsum += i;\nreturn printf("%ld\\n", sum) < 0;\n}\n')
        subprocess.run(['gcc', '-fopenmp', '-o', program, source], check=True)
        trace = compare([program], folder=folder)
        equal(len(trace.named(r'libgomp\.so.*')), 3)
        equal(len(trace.kinds('thread')), 4)


@case
def parallel():
    """It kills the children that measure its limits: they leave no trace that cannot be read."""
    need('parallel')
    with temporary_directory() as folder:
        trace = compare(['parallel', '-j2', 'sleep 0.1; echo {}', ':::', *'abcd'], None,
                        lambda text: sorted(text.splitlines()), folder=folder, HOME=folder)
        equal(len(trace.named('sleep 100 ms')), 4)
        assert 'killed by SIGKILL' in trace.notes() or 'killed by SIGTERM' in trace.notes(), sorted(set(trace.notes()))


APACHE = """
ServerRoot /usr/lib/apache2
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/errors
DocumentRoot {folder}/pages
<Directory />
Require all granted
</Directory>
"""


@case
def apache():
    """Workers wait for the condition of a queue, which the thread that listens signals."""
    need('apache2', 'wrk')
    with temporary_directory() as folder:
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, 'pages'))
        write(os.path.join(folder, 'pages', 'page'), 'hello\n')
        port, config = free_port(), os.path.join(folder, 'c')
        write(config, APACHE.format(folder=folder, port=port) + ('User www-data\nGroup www-data\n' if os.getuid() == 0 else ''))
        page = 'http://127.0.0.1:%d/page' % port

        def load():
            text = subprocess.run(['wrk', '-t1', '-c8', '-d1s', page], capture_output=True, text=True, check=True).stdout
            equal('Non-2xx' in text, False, text)
            assert int(re.search(r'(\d+) requests in', text).group(1)) > 0, text
        with recorded(folder, 'apache2', '-X', '-f', config, stop=signal.SIGTERM) as pid:
            wait_until('apache2', lambda: succeeds('wrk', '-t1', '-c1', '-d1s', page))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        queue = {task['task'] for task in trace.named('condition in ap_queue_pop_something')}
        equal(len(queue), 1)
        readers = {event['task'] for event in trace.events() if event['event'] == 'read' and event['source'] in queue}
        assert len(readers) >= 2, readers
        equal(trace.problems().count('thundering herd'), 0, trace.problems())
