# SPDX-License-Identifier: ISC
# Threads that wait for locks of Python. The first argument names the part; all but those from `sound` on hang.
import concurrent.futures
import ctypes
import gc
import io
import os
import queue
import sys
import threading

both_hold = threading.Barrier(2)


def take_both(one, other):
    with one:
        both_hold.wait()
        with other:
            pass


def two(kind=threading.Lock):
    a, b = kind(), kind()
    threads = [threading.Thread(target=take_both, args=pair, name=name) for name, pair in (('first', (a, b)), ('second', (b, a)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def recursive():
    two(threading.RLock)


def conditions():
    two(threading.Condition)


def itself():
    lock = threading.Lock()
    with lock:
        with lock:
            pass


def kept():
    lock, is_held = threading.Lock(), threading.Event()

    def keep():
        lock.acquire()
        is_held.set()
        threading.Event().wait()
    threading.Thread(target=keep, name='keeper').start()
    is_held.wait()
    lock.acquire()
    lock.release()


def handed():
    """The thread that has taken this one waits for another one, which is to give it back."""
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=threading.Event().wait, name='giver').start()
    lock.acquire()


def awaits_items():
    queue.Queue().get()


def awaits_room():
    full = queue.Queue(1)
    full.put(1)
    full.put(2)


def awaits_items_in_c():
    queue.SimpleQueue().get()


def nested_pool():
    pool = concurrent.futures.ThreadPoolExecutor(1, 'pool')
    pool.submit(lambda: pool.submit(len).result()).result()


def sound():
    lock, ping, pong, items = threading.Lock(), threading.Lock(), threading.Lock(), queue.Queue(3)
    ping.acquire()
    pong.acquire()

    def count():
        for _ in range(20):
            with lock:
                os.sched_yield()
            items.put(1)

    def answer():
        for _ in range(20):
            ping.acquire()
            pong.release()
    threads = [threading.Thread(target=target) for target in (count, count, count, answer)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        ping.release()
        pong.acquire()
    for _ in range(60):
        items.get()
    for thread in threads:
        thread.join()


class Circle:
    """Only the collector finds it."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        deep(300)


def deep(count):
    """Calls itself by functions in C, which take memory of the stack."""
    return count and max(map(deep, [count - 1]))


def collected():
    """The collector runs after each number of new objects, so also when the recorder asks what Python executes."""
    for count in range(1, 100):
        thread = threading.Thread(target=len, args=('',))
        gc.collect()
        Circle()
        gc.set_threshold(count)
        thread.start()
        thread.join()
        gc.set_threshold(0)


class Disk(io.RawIOBase):
    """A write ends once the main thread waits for the writer's lock."""

    def __init__(self):
        self.begins = threading.Event()

    def writable(self):
        return True

    def write(self, data):
        self.begins.set()
        main = threading.main_thread().ident
        while sys._current_frames()[main].f_code is not failed.__code__:
            os.sched_yield()
        return len(data)


class Full(io.BufferedWriter):
    def flush(self):
        threading.Thread(target=super().flush).start()
        self.raw.begins.wait()
        raise OSError('no space')


def failed():
    """close() waits for a lock after flush() has failed."""
    writer = Full(Disk())
    writer.write(b'x')
    try:
        writer.close()
    except OSError as error:
        print(error)
    Full.flush = io.BufferedWriter.flush


def interpreters():
    """A thread without the global lock tries a lock that is taken."""
    module = '_xxsubinterpreters' if sys.version_info < (3, 13) else '_interpreters'
    __import__(module).create()
    c = ctypes.CDLL(None)
    c.PyThread_allocate_lock.restype = ctypes.c_void_p
    lock = ctypes.c_void_p(c.PyThread_allocate_lock())
    print([c.PyThread_acquire_lock(lock, 0) for _ in range(2)])


print(os.getpid(), flush=True)
globals()[sys.argv[1]]()
