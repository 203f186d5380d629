# SPDX-License-Identifier: ISC
"""Trace contexts: for which request, of which program, the code at hand works. See the package weft."""
import contextvars
import os

from weft import _weft

_current = contextvars.ContextVar('weft_context', default='')


def context():
    """The context of the code at hand as a `traceparent` of W3C Trace Context, for a request to another program; '' without one.

    Tasks of asyncio have that of the task that created them, until they set one of their own.
    """
    return _current.get()


def context_set(traceparent):
    """The code at hand works for this context from now on; '' is none."""
    _weft._context_set(traceparent)
    _current.set(traceparent)


def context_start(parent='', task=_weft.CURRENT, category=None, level=0):
    """The task is a span of the trace of `parent`, a `traceparent` as it was received, or without a valid one of a new trace.

    Returns its context, which is that of the code at hand from now on if `task` is the current task. While nothing is
    recorded, that is the parent, so that a program passes on what it received.
    """
    own = _weft._context_start(parent if _weft._is_context(parent) else '', task=task, category=category, level=level)
    if task in (_weft.CURRENT, _weft.current()):
        _current.set(own)
    return own


def context_from_environment():
    """The context in the environment variable TRACEPARENT; '' without a valid one."""
    found = os.environ.get('TRACEPARENT', '')
    return found if _weft._is_context(found) else ''
