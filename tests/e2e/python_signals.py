# SPDX-License-Identifier: ISC
"""A signal's handler may raise while a hook of asyncio runs code in Python: the program gets that, as alone."""
import os
import sys

from harness import BUILD, case, equal, main, run, skip, temporary_directory, weft

PACKAGES = os.path.join(BUILD, 'bindings', 'python')

# Each time, a thread interrupts the main one somewhere in its use of asyncio. What was raised must come out.
PROGRAM = '''
import asyncio, os, signal, threading

class Counts:
    raised = caught = 0

def interrupt(number, frame):
    Counts.raised += 1
    raise KeyboardInterrupt

signal.signal(signal.SIGUSR1, interrupt)
main = threading.main_thread().ident
wanted = threading.Semaphore(0)

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

ROUNDS = 400
thread = threading.Thread(target=send)
thread.start()
for round in range(ROUNDS):
    loop = asyncio.new_event_loop()
    task = loop.create_task(use())
    try:
        print('round', round, loop.run_until_complete(task))
    except KeyboardInterrupt:
        task.cancel()
        try: # so that asyncio has nothing to say about it, while the next one interrupts
            loop.run_until_complete(task)
        except (KeyboardInterrupt, asyncio.CancelledError):
            pass
    Counts.caught = Counts.raised
    loop.close()
thread.join()
print(Counts.raised, 'raised')
'''


@case
def an_interrupt_is_the_programs():
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')
    with temporary_directory() as folder:
        path = os.path.join(folder, 'program.py')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(PROGRAM)
        env = {'XDG_RUNTIME_DIR': folder}
        alone = run([sys.executable, '-W', 'ignore', path], env=env)
        recorded = weft('record', '-o', os.path.join(folder, 't.weft'), '--', sys.executable, '-W', 'ignore', '-m', 'weft', path,
                        env={**env, 'PYTHONPATH': PACKAGES}, cwd=folder, status=None)
        equal((alone.returncode, alone.stdout), (0, '400 raised\n'), alone.stderr)
        equal((recorded.returncode, recorded.stdout), (0, '400 raised\n'), recorded.stderr)


main()
