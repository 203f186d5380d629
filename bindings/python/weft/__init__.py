# SPDX-License-Identifier: ISC
"""Records what the tasks of a program do: which task runs when, which task waits for which, what woke it.

    import weft

    with weft.task('say hello'):
        print('Hello, world.')

Run the program under `weft record`. Most functions have the parameters

    task        the acting task; CURRENT, the default, is the thread's current task
    category    a weft.Category; None is the category "program"
    level       LEVEL_ERROR to LEVEL_TRACE; 0 is LEVEL_INFO, or LEVEL_ERROR for fail()

and record nothing while recording is off or the category's level is lower. Tasks are numbers, as in weft(3), which
says what each call means. `weft record -- python3 PROGRAM` records the tasks of asyncio: see weft.asyncio.
"""
from weft._weft import *  # noqa: F401, F403
from weft import _weft
from weft.contexts import context, context_from_environment, context_set, context_start
from weft.metrics import Counter, Gauge, Histogram

__all__ = [name for name in dir(_weft) if not name.startswith('_')] + [
    'Counter', 'Gauge', 'Histogram', 'context', 'context_from_environment', 'context_set', 'context_start', 'span', 'task']


class task:
    """Within a `with` statement, a new task of this name runs on this thread; `id` is its id.

    It ends with the statement: it is resolved, or fails if there is an exception; Ctrl-C cancels it. Then the task before it runs again.
    The statement must not contain an `await`: another task may run meanwhile. A coroutine is recorded by weft.asyncio.
    """

    __slots__ = ('_label', '_kind', '_category', '_level', 'id')

    def __init__(self, label, kind=_weft.TASK, category=None, level=0):
        self._label, self._kind, self._category, self._level = label, kind, category, level
        self.id = _weft.NONE

    def __enter__(self):
        self.id = _weft.create(self._label, self._kind, category=self._category, level=self._level)
        _weft.enter(self.id)
        return self

    def __exit__(self, kind, error, traceback):
        # sys.exit(0) ends a program as it should.
        if kind is None or (kind is SystemExit and not error.code):
            _weft.resolve(self.id, category=self._category, level=self._level)
        elif kind is KeyboardInterrupt:
            _weft.cancel(self.id, category=self._category, level=self._level)
        else:
            _weft.fail(self.id, kind.__name__, category=self._category)
        _weft.leave()


class span:
    """Within a `with` statement, a span of the task that runs: a part of its work that has a name.

    Spans nest. A coroutine that weft.asyncio records may wait within the statement. With `traced`, the span has a trace
    context of its own within the statement, in the trace of context().
    """

    __slots__ = ('_name', '_category', '_level', '_is_recorded', '_is_traced', '_outer')

    def __init__(self, name, category=None, level=0, traced=False):
        self._name, self._category, self._level, self._is_traced = name, category, level, traced
        self._is_recorded = False

    def __enter__(self):
        self._is_recorded = _weft.begin(self._name, category=self._category, level=self._level)
        if self._is_traced:
            self._outer = context()
            context_set(_weft._context_begin(self._outer, category=self._category, level=self._level))
        return self

    def __exit__(self, kind, error, traceback):
        if self._is_recorded:
            _weft.end()
        if self._is_traced:
            context_set(self._outer)
