# SPDX-License-Identifier: ISC
"""Records the tasks and futures of asyncio: what each waits for, what wakes it, when the loop is idle.

`weft record -- python3 PROGRAM` and `python3 -m weft PROGRAM` do so; a program can also call record() itself, before its first event loop. What is recorded:

    task                 when it is created, each of its steps, the future or task it awaits, how it ends
    future               from the first await of it to its end, with the coroutine and the line that await it
    gather, wait, ...    the tasks and futures that they wait for
    Lock, Semaphore      once a task waits for it, with the tasks that hold it
    Condition, Event,    once a task waits for it, with the signals that wake tasks, and the last one before
    Barrier
    Queue                its items, its room and its unfinished items, each once a task waits for it; a pool, if tasks put
                         back what they got
    event loop           each one as a task, which runs callbacks that belong to no task; idle while it selects; whether
                         anything is left that can wake it
    Ctrl-C               tasks stay as they were then; what a loop still runs is a task of its own
    Future.result        in a thread that runs an event loop, for a task of run_coroutine_threadsafe()
    thread pool          each job of concurrent.futures, in the thread that runs it; the pool, once it is full
    errors               what asyncio gives to a loop's exception handler
    garbage collection   from 100 us on

All of it has the category "asyncio". Exceptions, tracebacks, cancellation and the types of all objects stay as they are.
"""
import concurrent.futures.thread  # noqa: F401: it is recorded, too

from weft import _hooks, _weft


def record():
    """Records all event loops of this process from now on."""
    if _hooks.record(_weft):
        _hooks.record_pools()
