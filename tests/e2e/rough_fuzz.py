# SPDX-License-Identifier: ISC
"""Each function that has a hook is called with arguments at random, alone and recorded: the program does the same.

WEFT_ROUGH_SEED and WEFT_ROUGH_CALLS choose others."""
import os
import re
import shutil

from harness import BUILD, case, main, run, skip, temporary_directory, weft

CALLS = os.path.join(BUILD, 'tests', 'rough', 'rough-calls')
ADAPTERS = os.path.join(BUILD, 'adapters', 'libweft-adapters.so')
SEED = int(os.environ.get('WEFT_ROUGH_SEED', '28'))
COUNT = int(os.environ.get('WEFT_ROUGH_CALLS', '1500'))

# These end or replace the process, make others, signal any process, or need what a jump has saved.
LEFT_OUT = re.compile(r'_?_(exit|Exit)$|exec|fork|spawn|longjmp|daemon|system|popen|pclose|^(kill|killpg|raise|tgkill|sigqueue)$|'
                      r'pthread_(kill|sigqueue)|^(sync|syncfs|dlopen|dlmopen|dlsym|prctl|pause|sleep|sigsuspend|__start_|__stop_)|'
                      r'^(uv_|g_|weft)|^aio_|^wait|^(thrd|call|pthread)_(create|once)')
LATE = 'signal 14'  # SIGALRM: the call did not return in time


def functions():
    if not shutil.which('nm'):
        skip('nm is not installed')
    words = re.findall(r' [TWi] (\S+)$', run(['nm', '-D', '--defined-only', ADAPTERS]).stdout, re.MULTILINE)
    return sorted(word for word in words if not LEFT_OUT.search(word))


def outcomes(text):
    return [line.split(': ', 1) for line in text.splitlines() if re.match(r'\d+ ', line)]


def is_crash(outcome):
    return outcome.startswith('signal ') and outcome != LATE


def run_alone(mode, options):
    with temporary_directory() as folder:
        return run([CALLS, mode, *options], cwd=folder, processor=300)


def check(mode):
    """A call that did not return in time is not compared: that depends on the machine's other work. So does whether a call is
    made at all before its thread is cancelled: it may crash if it does so otherwise."""
    names = functions()
    assert len(names) > 120, names
    options = [str(SEED), str(COUNT), *names]
    with temporary_directory() as folder:
        plain, alone = run_alone('plain', options), run_alone(mode, options)
        assert plain.returncode == alone.returncode == 0, alone
        recorded = weft('record', '-a', 'thread,io', '-o', 't.weft', CALLS, mode, *options, cwd=folder, status=None, processor=600,
                        env={'XDG_RUNTIME_DIR': folder})
    results = list(zip(outcomes(alone.stdout), outcomes(plain.stdout), outcomes(recorded.stdout)))
    assert len(results) == COUNT, (len(results), recorded.stderr[-2000:])
    wrong = ['%s: %s, recorded: %s' % (call, a, b) for (call, a), (_, p), (_, b) in results if is_wrong(mode, a, p, b)]
    assert not wrong, '%d of %d calls (WEFT_ROUGH_SEED=%d):\n%s' % (len(wrong), COUNT, SEED, '\n'.join(wrong[:40]))


def is_wrong(mode, alone, plain, recorded):
    if mode != 'plain' and (is_crash(alone) or is_crash(plain)):
        return False
    return is_crash(recorded) if alone == LATE else alone != recorded and recorded != LATE


@case
def wrong_arguments():
    check('plain')


@case
def small_stacks():
    check('stack')


@case
def signals():
    check('signals')


@case
def cancellation():
    check('cancel')


main()
