# SPDX-License-Identifier: ISC
"""A signal's handler may raise while a hook of asyncio runs code in Python: the program gets that, as alone."""
import os
import sys

from harness import BUILD, case, equal, main, run, skip, temporary_directory, weft

PACKAGES = os.path.join(BUILD, 'bindings', 'python')

# Each time, a thread interrupts the main one somewhere in its use of asyncio. What a handler raised must come out, with
# the handler's own line as the last of its traceback, whatever kind of object the handler is.
PROGRAM = '''
import asyncio, functools, gc, os, signal, threading, traceback

gc.disable() # or asyncio could be interrupted while it reports what was left, in a finalizer, which swallows all errors

class Counts:
    raised = caught = 0

class Stop(Exception):
    pass

def interrupt(kind, number=0, frame=None):
    Counts.raised += 1
    raise kind

class Handler:
    def method(self, number, frame):
        interrupt(TimeoutError)

    def __call__(self, number, frame):
        interrupt(SystemExit)

HANDLERS = (lambda number, frame: interrupt(KeyboardInterrupt), functools.partial(interrupt, Stop), Handler().method, Handler())
ERRORS = (KeyboardInterrupt, Stop, TimeoutError, SystemExit)
main = threading.main_thread().ident
wanted = threading.Lock() # unlike a semaphore, whole at any time
wanted.acquire()

def send():
    for round in range(ROUNDS):
        wanted.acquire()
        for spin in range(round * 37 % 2000):
            pass
        signal.pthread_kill(main, signal.SIGUSR1)

async def use():
    queue, lock, event = asyncio.Queue(2), asyncio.Lock(), asyncio.Event()
    wanted.release()
    for turn in range(100000):
        await queue.put(turn)
        async with lock:
            await queue.get()
        event.set()
        await event.wait()
        await asyncio.sleep(0)
        if Counts.raised > Counts.caught and turn % 16 == 15:
            return 'lost'

def report(loop, context): # of an error that asyncio catches because it came between two steps
    raise SystemExit from context['exception']

ROUNDS = 400
thread = threading.Thread(target=send)
thread.start()
for round in range(ROUNDS):
    signal.signal(signal.SIGUSR1, HANDLERS[round % 4])
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(report)
    task = loop.create_task(use())
    try:
        print('round', round, loop.run_until_complete(task))
    except ERRORS as caught:
        error = caught.__cause__ or caught
        last = traceback.extract_tb(error.__traceback__)[-1].name
        if type(error) is not ERRORS[round % 4] or last != 'interrupt':
            print('round', round, repr(error), last)
    Counts.caught = Counts.raised
    loop.close()
thread.join()
print(Counts.raised, 'raised')
'''

# The same for a thread with a loop of its own, which another one stops.
THREADS = '''
import asyncio, ctypes, gc, threading

gc.disable()

async def use(started):
    started.release()
    while True:
        lock, queue = asyncio.Lock(), asyncio.Queue(2)
        await queue.put(1)
        async with lock:
            await queue.get()
        await asyncio.sleep(0)

def work(started):
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(use(started))
    except SystemExit:
        stopped.append(1)
    loop.close()

stopped = []
for round in range(100):
    started = threading.Lock()
    started.acquire()
    thread = threading.Thread(target=work, args=[started])
    thread.start()
    started.acquire()
    for spin in range(round * 37 % 2000):
        pass
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
    thread.join()
print(len(stopped), 'stopped')
'''


def does_as_alone(program, output):
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')
    with temporary_directory() as folder:
        path = os.path.join(folder, 'program.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(program)
        env = {'XDG_RUNTIME_DIR': folder}
        alone = run([sys.executable, '-W', 'ignore', path], env=env)
        recorded = weft('record', '-o', os.path.join(folder, 't.weft'), '--', sys.executable, '-W', 'ignore', '-m', 'weft', path,
                        env={**env, 'PYTHONPATH': PACKAGES}, cwd=folder, status=None)
        equal((alone.returncode, alone.stdout), (0, output), alone.stderr)
        equal((recorded.returncode, recorded.stdout), (0, output), recorded.stderr)


@case
def what_a_handler_raises_is_the_programs():
    does_as_alone(PROGRAM, '400 raised\n')


@case
def what_stops_a_thread_is_for_that_thread():
    does_as_alone(THREADS, '100 stopped\n')


main()
