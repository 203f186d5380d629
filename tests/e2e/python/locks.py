# SPDX-License-Identifier: ISC
# Threads that wait for locks of Python. The first argument names the part; all but `sound` and `collected` hang.
import concurrent.futures
import gc
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


print(os.getpid(), flush=True)
globals()[sys.argv[1]]()
