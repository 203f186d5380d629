# SPDX-License-Identifier: ISC
"""`weft doctor` says beforehand what `weft record` then finds."""
import os
import shutil
import signal
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, main, ring_lines, run, skip, temporary_directory, weft
from waiting import wait_until

EXAMPLE = os.path.join(BUILD, 'examples', 'echo-server')


def doctor(operand, status=0, **more):
    """{name: the text of each line with it}"""
    facts = {}
    for line in weft('doctor', str(operand), status=status, **more).stdout.splitlines():
        name, text = line[:11].rstrip(), line[12:]
        facts.setdefault(name, []).append(text)
    return facts


@case
def a_program_is_recorded_by_adapters():
    facts = doctor('sleep')
    equal(facts['program'], [shutil.which('sleep') + ', linked dynamically with glibc'])
    assert facts['recorded'][0].startswith('by the adapters thread and io'), facts
    equal(facts['next'], ['weft record -- sleep'])
    assert ' MiB in ' in facts['room'][0], facts


@case
def a_linked_program_is_recorded_by_libweft():
    assert doctor(EXAMPLE)['recorded'][0].startswith('by libweft'), doctor(EXAMPLE)


@case
def a_static_program_is_not_recorded():
    if not shutil.which('cc'):
        skip('there is no C compiler')
    with temporary_directory() as folder:
        source, program = os.path.join(folder, 'x.c'), os.path.join(folder, 'x')
        with open(source, 'w', encoding='ascii') as file:
            file.write('int main(void) { return 0; }\n')
        if run(['cc', '-static', '-o', program, source]).returncode:
            skip('there is no static C library')
        facts = doctor(program, status=1)
        reason = facts['recorded'][0]
        assert reason.startswith('nothing: it is statically linked'), facts
        assert 'next' not in facts, facts
        said = weft('record', '-o', os.path.join(folder, 't.weft'), program, env={'XDG_RUNTIME_DIR': folder}, status=None).stderr
        assert reason[len('nothing: '):] in said, said


@case
def a_script_is_its_interpreter():
    with temporary_directory() as folder:
        script = os.path.join(folder, 'own-script')
        with open(script, 'w', encoding='ascii') as file:
            file.write('#!%s\n' % os.path.realpath(sys.executable))
        assert 'cannot be executed' in weft('doctor', script, status=1).stderr
        os.chmod(script, 0o700)
        weft('doctor', 'own-script', status=1, cwd=folder)  # as a shell, which looks in PATH only
        facts = doctor(script)
        assert facts['program'][0].startswith('a script, run by ' + os.path.realpath(sys.executable)), facts
        has_python = os.path.exists(os.path.join(BUILD, 'bindings', 'python', 'weft', 'weft-python.so'))
        equal(facts.get('also'), ['by the adapter python: tasks of asyncio, from Python 3.11 on'] if has_python else None)


@case
def what_cannot_be_examined_is_an_error():
    weft('doctor', '/nowhere', status=3)
    weft('doctor', '2147483647', status=3)
    weft('doctor', status=2)
    weft('doctor', 'a', 'b', status=2)


@case
def a_process_is_told_what_to_do():
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        with subprocess.Popen(['sleep', '1000']) as process:
            facts = doctor(process.pid, status=1, env=env)
            process.kill()
        assert facts['recorded'][0].startswith('nothing'), facts
        recorder = subprocess.Popen([WEFT, 'record', '-o', 't.weft', os.path.join(BUILD, 'tests', 'hang-subject'), 'pause'], cwd=folder,
                                    env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pid = wait_until('a program', lambda: ring_lines(weft('ls', '--json', env=env).stdout, folder), recorder)[0]['pid']
        try:
            facts = doctor(pid, env=env)
            assert facts['recorded'][0].startswith('into ' + folder), facts
            equal(facts['next'][0].split(';')[0], 'weft why %d' % pid)
        finally:
            os.kill(pid, signal.SIGKILL)
            recorder.wait()


@case
def a_process_that_has_ended_is_said_to():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    facts = doctor(child, status=1)
    os.waitpid(child, 0)
    assert 'has ended' in facts['process'][0], facts


main()
