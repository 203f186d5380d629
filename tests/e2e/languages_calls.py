# SPDX-License-Identifier: ISC
"""The calls of languages_calls.c, by weft_ffi.h and ctypes.

    languages_calls.py LIBRARY
"""
import ctypes
import sys
from ctypes import POINTER, c_char_p, c_double, c_int64, c_size_t, c_uint, c_uint16, c_uint32, c_uint64, c_void_p


class Content(ctypes.Union):
    _fields_ = [('i64', c_int64), ('u64', c_uint64), ('f64', c_double), ('text', c_char_p)]


class Value(ctypes.Structure):
    _fields_ = [('type', c_uint32), ('size', c_uint32), ('content', Content)]


CURRENT, NONE, DEBUG = 2**64 - 2, 2**64 - 1, 4
TEXT = [c_char_p, c_size_t]
CALL = [c_void_p, c_uint, c_uint64]
CACHE = [POINTER(c_uint64)]
VALUES = [c_uint, POINTER(Value)]


def function(name, *types, result=None):
    found = getattr(ctypes.CDLL(sys.argv[1]), 'weft_ffi_' + name)
    found.argtypes, found.restype = types, result
    return found


def values(*items):
    made = [Value(3, 0, Content(f64=item)) if isinstance(item, float)
            else Value(7, 0, Content(i64=item)) if isinstance(item, bool)
            else Value(1, 0, Content(i64=item)) if isinstance(item, int)
            else Value(4, len(item), Content(text=item)) for item in items]
    return len(made), (Value * len(made))(*made)


net = function('category', *TEXT, *TEXT, result=c_void_p)(b'net', 3, b'connections', 11)
create = function('create', *CALL, c_uint16, result=c_uint64)
switch = function('switch', c_uint64)
task = create(net, 0, CURRENT, 1)
reply = create(net, 0, task, 0)
function('label', *CALL, *TEXT, *CACHE)(net, 0, task, b'accept', 6, c_uint64(0))
switch(task)
function('try_read', *CALL, c_uint64)(net, 0, CURRENT, reply)
function('note', *CALL, *TEXT, *CACHE)(net, DEBUG, CURRENT, b'not recorded', 12, None)
names = b'request\0bytes\0path\0ratio\0is_new'
function('mark', *CALL, *TEXT, *CACHE, *VALUES)(net, 0, CURRENT, names, len(names), None, *values(-5, b'/index', 0.5, True))
function('notef', *CALL, *TEXT, *CACHE, *VALUES)(net, 0, CURRENT, b'%d of %s', 8, None, *values(3, b'four'))
function('tag_value', *CALL, *TEXT, *CACHE, c_int64)(net, 0, CURRENT, b'retry', 5, None, 2)
function('counter_add', *CALL, *TEXT, *CACHE, c_int64)(net, 0, CURRENT, b'queue', 5, None, -1)
function('counter_set_f64', *CALL, *TEXT, *CACHE, c_double)(net, 0, CURRENT, b'load', 4, None, 0.75)
function('band_begin', c_uint, *TEXT, *CACHE)(0, b'poll', 4, None)
function('band_end', c_uint, *TEXT, *CACHE)(0, b'poll', 4, None)
function('fail', *CALL, c_uint64, *TEXT)(net, 0, CURRENT, reply, b'timeout', 7)
function('resolve', *CALL, c_uint64)(net, 0, CURRENT, task)
switch(NONE)
