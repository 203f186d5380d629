// SPDX-License-Identifier: ISC
//
// Trace contexts of requests: those that come in are read, and those that the program sends. Nothing is added to what it
// sends, unless its user wants that: WEFT_PROPAGATE=1.
'use strict';

const weft = require('./weft.node');

const {WEFT_PROPAGATE, TRACEPARENT, TRACESTATE} = process.env;

class Context {
	constructor(traceparent, tracestate) {
		this.traceparent = traceparent;
		this.tracestate = tracestate;
	}
}

// Of headers as node has them: names and values in turn. Two of the name traceparent are none.
function ofList(list) {
	const parents = [], states = [];
	for (let i = 0; i + 1 < list.length; i += 2) {
		const {length} = list[i], name = length === 11 || length === 10 ? list[i].toLowerCase() : '';
		if (name === 'traceparent')
			parents.push(list[i + 1]);
		else if (name === 'tracestate')
			states.push(list[i + 1]);
	}
	return new Context(parents.length === 1 ? parents[0] : '', states.join(','));
}

// A request's head as it is sent, as such a list. A regular expression would change RegExp.$1, which the program may read.
function listOf(head) {
	const list = [];
	for (const line of typeof head === 'string' ? head.split('\r\n') : []) {
		const end = line.indexOf(':');
		if (end >= 0)
			list.push(line.slice(0, end), line.slice(end + 1).trim());
	}
	return list;
}

const ofHead = head => ofList(listOf(head));

// True if there is any traceparent, also one that is not valid.
const isGiven = headers => (Array.isArray(headers) ? headers : listOf(headers))
	.some((name, i) => i % 2 === 0 && String(name).toLowerCase() === 'traceparent');

// The task is a span below that of a context, or, if that is '', of a new trace. Its own context; null if `parent` is
// not valid.
function start(task, parent) {
	const own = weft.context(task, parent.traceparent, parent.tracestate);
	return own === '' ? null : new Context(own, parent.tracestate);
}

module.exports = {
	ofList, ofHead, isGiven, start,
	none: new Context('', ''),
	// For what serves no request: as programs say it that start others.
	outer: new Context(TRACEPARENT || '', TRACESTATE || ''),
	propagates: WEFT_PROPAGATE !== undefined && WEFT_PROPAGATE !== '' && WEFT_PROPAGATE !== '0',
};
