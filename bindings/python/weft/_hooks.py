# SPDX-License-Identifier: ISC
"""Finds the parts of asyncio that the functions in C need, and makes the labels for which they ask.

weft.asyncio calls record(). So does the library that `weft record` has Python load, which contains this text and runs it without the package,
as soon as the program has imported asyncio. So nothing here may import what asyncio does not import itself, or leave it in sys.modules.
"""
import _signal
import asyncio
import atexit
import collections
import concurrent.futures
import contextvars
import functools
import os
import selectors
import signal
import sys
import threading
import types
import warnings
from asyncio import events, futures, mixins, tasks


async def _nothing():
    yield


def _types_of_steps():
    """The types of what awaits the next value of an asynchronous generator, and its end."""
    generator = _nothing()
    steps = generator.asend(None), generator.aclose()
    for step in steps:
        step.close()  # nothing runs
    return tuple(map(type, steps))


class _Loop:
    """Keeps the callbacks that tasks give to a loop."""

    def call_soon(self, callback, *args, context=None):
        self.callback = callback

    def get_debug(self):
        return False


def _is_half_loaded():
    """True while the part in C, which a program has imported by itself, imports asyncio: its functions would crash."""
    spec = getattr(sys.modules.get('_asyncio'), '__spec__', None)
    return getattr(spec, '_initializing', False)


def _callbacks_of_tasks():
    """A task's step and wake-up: objects whose types have no public name."""
    loop = _Loop()
    future = asyncio.Future(loop=loop)

    async def wait():
        await future
    task = asyncio.Task(wait(), loop=loop, name='probe')  # a name, so that no number is used up
    step = loop.callback
    step()
    future.set_result(None)
    wakeup = loop.callback
    wakeup(future)
    assert task.done()
    return step, wakeup


# Private names differ between versions of Python. Where one is missing, the trace shows less.

def _code(function):
    return getattr(function, '__code__', None)


def _inner_code(function, name):
    """The code of a function that another one defines, or None."""
    found = [code for code in getattr(_code(function), 'co_consts', ()) if getattr(code, 'co_name', '') == name]
    return found[0] if found else None


def _closures():
    """{id of a callback's code: index of the variable with a future: the one that it ends, or for which its own future waits}"""
    found = {}
    for function, name, variable in ((tasks.gather, '_done_callback', 'outer'),
                                     (getattr(tasks, '_wait', None), '_on_completion', 'waiter'),
                                     (tasks.shield, '_inner_done_callback', 'outer'), (tasks.shield, '_outer_done_callback', 'inner'),
                                     (tasks.run_coroutine_threadsafe, 'callback', 'future'),
                                     (getattr(futures, '_chain_future', None), '_call_check_cancel', 'source')):
        code = _inner_code(function, name)
        if code and variable in code.co_freevars:
            found[id(code)] = code.co_freevars.index(variable)
    return found


def _locals():
    """{id of a coroutine's code: name of the variable with the futures that it waits for}"""
    waits = ((getattr(tasks, '_wait', None), 'fs'), (tasks.wait_for, 'fut'), (getattr(tasks, '_cancel_and_wait', None), 'fut'),
             (asyncio.TaskGroup.__aexit__, 'self'))
    return {id(_code(function)): variable for function, variable in waits
            if _code(function) and variable in _code(function).co_varnames}


def _resources():
    """{id of a method's code: number of enum weft_python_resource, for what it waits}"""
    methods = ((asyncio.Lock.acquire, 0), (asyncio.Semaphore.acquire, 0), (asyncio.Condition.wait, 1), (asyncio.Event.wait, 1),
               (asyncio.Queue.get, 2), (asyncio.Queue.put, 3), (asyncio.Queue.join, 4))
    return {id(_code(method)): number for method, number in methods}


def _thread_name():
    """Gives this thread its name of Python, which the operating system does not know."""
    name = threading.current_thread().name
    if name != 'MainThread':
        _weft.thread_name(name.replace('ThreadPoolExecutor', 'pool'))
    return name


def _label_of_loop():
    name = _thread_name()
    return 'event loop' if name == 'MainThread' else 'event loop of ' + name


def _is_asleep(loop):
    """True if neither a signal nor another thread can wake the loop: a pool's threads, which have no job, do not."""
    handlers = (signal.getsignal(number) for number in range(1, signal.NSIG) if number != signal.SIGINT)
    if getattr(loop, '_signal_handlers', None) or any(map(callable, handlers)):
        return False
    pool = getattr(sys.modules.get('concurrent.futures.thread'), '_threads_queues', ())
    threads = [thread for thread in threading.enumerate() if thread not in pool]
    return len(threads) == 1 and len(os.listdir('/proc/self/task')) == threading.active_count()


def _label_of_job(job):
    function = job.fn
    while isinstance(function, functools.partial):
        # asyncio.to_thread() runs the function in a context.
        runs = isinstance(getattr(function.func, '__self__', None), contextvars.Context) and function.args
        function = function.args[0] if runs else function.func
    code, name = getattr(function, '__code__', None), getattr(function, '__qualname__', None) or type(function).__qualname__
    return f'{name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}' if code else name


def _outside():
    """The frames of asyncio that make an object, up to that of the program."""
    frame, folder, made = sys._getframe(2), os.path.dirname(asyncio.__file__) + os.sep, []
    while frame and frame.f_code.co_filename.startswith(folder):
        made.append(frame)
        frame = frame.f_back
    return made, frame


def _at(name, frame):
    """The name and where the program is, as "Lock at crawl.py:12"."""
    return f'{name} at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}' if frame else name


def _label_of_lock(lock):
    frames, frame = _outside()
    maker, name = frames[-1].f_locals.get('self') if frames else lock, type(lock).__name__
    return _at(name if isinstance(maker, type(lock)) else f'{name} of {type(maker).__name__}', frame)


def _label_of_condition(condition):
    frames, frame = _outside()
    maker = frames[-1].f_locals.get('self') if frames else None
    if isinstance(maker, asyncio.Queue):
        return _at('unfinished items of ' + type(maker).__name__, frame)
    if isinstance(maker, getattr(asyncio, 'Barrier', ())):
        return _at('Barrier of %s' % frames[-1].f_locals.get('parties'), frame)
    return _at(type(condition).__name__, frame)


def _labels_of_queue(queue):
    """Labels for its items, its room, for itself as a pool, for the items on which tasks work, and for its length, if it has no bound."""
    frame, name, room = _outside()[1], type(queue).__name__, queue.maxsize
    return (_at('items of ' + name, frame), _at(f'room in {name} of {room}', frame), _at(name, frame),
            _at('unfinished items of ' + name, frame), None if room > 0 else _at('items in ' + name, frame))


def _label_of_pool(executor):
    name = type(executor).__name__
    return f'{"default executor" if executor._thread_name_prefix == "asyncio" else name} of {executor._max_workers}'


def _label_of_result():
    return _at('Future.result', _outside()[1])


def _label_of_misuse():
    """The function of asyncio that the program has called, and where: "Event.set at crawl.py:12"."""
    frames, frame = _outside()
    names = [made.f_code.co_qualname for made in frames if not made.f_code.co_name.startswith('_')]
    return _at(names[-1].removeprefix('BaseEventLoop.') if names else 'asyncio', frame)


def _message_of_stranger():
    return f'not thread-safe: {threading.current_thread().name} does not wake the loop'


def _message_of_unawaited(coroutine):
    code = getattr(coroutine, 'cr_code', None)
    return f'never awaited: the coroutine of {os.path.basename(code.co_filename)}:{code.co_firstlineno}' if code else 'never awaited'


def _location_of_error(exception):
    """Where the program raised it: in the innermost code that is not of Python's library. Empty for a longer traceback
    than calls nest: that of an exception which is raised again and again grows each time."""
    library, found, step = os.path.dirname(os.__file__) + os.sep, None, exception.__traceback__
    for _ in range(2000):
        if not step:
            break
        path = step.tb_frame.f_code.co_filename
        if not path.startswith(library) or '-packages' in path:
            found = step
        step = step.tb_next
    if step or not found:
        return ''
    return f' at {os.path.basename(found.tb_frame.f_code.co_filename)}:{found.tb_lineno}'


def _if_changes(kind, attribute):
    """The type, if its objects have the attribute by which they say that they are taken."""
    known = attribute in _code(kind.__init__).co_names and not hasattr(kind, '__slots__')
    return kind if known else None


_weft = None


def record(weft):
    """Records all event loops of this process from now on, by the extension module. False if that is done already."""
    global _weft
    if not isinstance(events.Handle._run, types.FunctionType):  # also by another copy of the package
        return False
    if _is_half_loaded():
        raise RuntimeError('the program has imported _asyncio before')
    _weft = weft
    step, wakeup = _callbacks_of_tasks()
    send_type, close_type = _types_of_steps()
    names = ('EpollSelector', 'PollSelector', 'SelectSelector')
    collected = _weft._hook({
        'step': step, 'wakeup': wakeup, 'coroutine_type': types.CoroutineType,
        'generator_type': types.GeneratorType, 'async_generator_type': types.AsyncGeneratorType, 'send_type': send_type, 'close_type': close_type,
        'function_type': types.FunctionType, 'method_type': types.MethodType,
        'partial_type': functools.partial, 'future_type': futures.Future,
        'gather_type': getattr(tasks, '_GatheringFuture', None),
        'folder': os.path.dirname(asyncio.__file__) + os.sep, 'closures': _closures(), 'locals': _locals(),
        'sleep': _code(asyncio.sleep), 'cancel_and_wait': _code(getattr(tasks, '_cancel_and_wait', None)), 'release_waiter': getattr(tasks, '_release_waiter', None),
        'task_group_done': getattr(asyncio.TaskGroup, '_on_task_done', None),
        'set_state': _inner_code(getattr(futures, '_chain_future', None), '_set_state'),
        'threadsafe': _inner_code(tasks.run_coroutine_threadsafe, 'callback'), 'ConcurrentFuture': concurrent.futures.Future,
        'label_of_result': _label_of_result,
        'call_soon': _code(asyncio.BaseEventLoop.call_soon), 'label_of_misuse': _label_of_misuse, 'message_of_stranger': _message_of_stranger,
        'LoopBound': mixins._LoopBoundMixin,
        'lock_type': _if_changes(asyncio.Lock, '_locked'), 'semaphore_type': _if_changes(asyncio.Semaphore, '_value'),
        'wake_up_next': _code(getattr(asyncio.Semaphore, '_wake_up_next', None)),
        'condition_type': _if_changes(asyncio.Condition, '_lock'), 'event_type': _if_changes(asyncio.Event, '_value'),
        'queue_type': _if_changes(asyncio.Queue, '_unfinished_tasks'), 'resources': _resources(), 'Condition': asyncio.Condition,
        'Queue': asyncio.Queue, 'label_of_condition': _label_of_condition, 'labels_of_queue': _labels_of_queue, 'deque_type': collections.deque,
        'check_cancel': _inner_code(getattr(futures, '_chain_future', None), '_call_check_cancel'),
        'leaves_inner': _inner_code(tasks.shield, '_outer_done_callback'),
        'cancelled_error': asyncio.CancelledError, 'location_of_error': _location_of_error, 'Timeout': asyncio.Timeout,
        'label_of_lock': _label_of_lock, 'label_of_loop': _label_of_loop,
        'warnings': warnings, 'message_of_unawaited': _message_of_unawaited, 'is_asleep': _is_asleep, 'getsignal': _signal.getsignal, 'Runner': asyncio.Runner,
        'Handle': events.Handle, 'BaseEventLoop': asyncio.BaseEventLoop,
        'Server': asyncio.Server,
        'selects': {getattr(selectors, name): getattr(selectors, name).select for name in names if hasattr(selectors, name)},
    })
    was_known = 'gc' in sys.modules
    import gc
    if not was_known:
        del sys.modules['gc']
    gc.callbacks.append(collected)
    # The interpreter collects all garbage when it ends, which is no pause of the program.
    atexit.register(lambda: gc.callbacks.remove(collected) if collected in gc.callbacks else None)
    return True


def record_pools():
    """Records all thread pools, once concurrent.futures.thread has been imported."""
    module = sys.modules['concurrent.futures.thread']
    _weft._hook_pools({
        'ThreadPoolExecutor': module.ThreadPoolExecutor, 'WorkItem': module._WorkItem, 'has_jobs': bool(module._threads_queues),
        'label_of_pool': _label_of_pool, 'label_of_job': _label_of_job})
