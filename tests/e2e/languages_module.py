# SPDX-License-Identifier: ISC
"""The calls of languages_calls.c, by the package weft."""
import weft

net = weft.Category('net', 'connections')
request = weft.Mark('request', 'bytes', 'path', 'ratio', 'is_new', category=net)

task = weft.create(kind=weft.TASK, category=net)
reply = weft.create(None, weft.WAIT, task, net)
weft.label('accept', task, category=net)
weft.switch(task)
weft.try_read(reply, category=net)
weft.note('not recorded', category=net, level=weft.LEVEL_DEBUG)
request(-5, '/index', 0.5, True)
weft.notef('%d of %s', (3, 'four'), category=net)
weft.tag('retry', 2, category=net)
weft.counter_add('queue', -1, category=net)
weft.counter_set('load', 0.75, category=net)
weft.band_begin(weft.BAND_IDLE, 'poll')
weft.band_end(weft.BAND_IDLE, 'poll')
weft.fail(reply, 'timeout', category=net)
weft.resolve(task, category=net)
weft.switch(weft.NONE)
