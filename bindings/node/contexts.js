// SPDX-License-Identifier: ISC
//
// Trace contexts of HTTP requests, both of those that the program receives and of those that it sends. Headers are only
// read; WEFT_PROPAGATE=1 also adds them to the requests that the program sends.
'use strict';

const events = require('./events.js');

const {WEFT_PROPAGATE, TRACEPARENT, TRACESTATE} = process.env;

class Context {
	constructor(traceparent, tracestate) {
		this.traceparent = traceparent;
		this.tracestate = tracestate;
	}
}

// The context in a list of headers as node has it: names and values in turn. A request with two headers traceparent has none.
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

// The head of a request, as it is sent, as a list of headers. A regular expression would change RegExp.$1, which the program may read.
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

// True if a header traceparent is there, even if it is not valid.
const isGiven = headers => (Array.isArray(headers) ? headers : listOf(headers))
	.some((name, i) => i % 2 === 0 && String(name).toLowerCase() === 'traceparent');

// Makes the task a span below that of `parent`, or the root of a new trace if `parent` is empty. Returns the task's own
// context; null if `parent` is not valid.
function start(task, parent) {
	const own = events.context(task, parent.traceparent, parent.tracestate);
	return own === '' ? null : new Context(own, parent.tracestate);
}

module.exports = {
	ofList, ofHead, isGiven, start,
	none: new Context('', ''),
	// The parent where no request is served: the variables by which one program passes its context to another.
	outer: new Context(TRACEPARENT || '', TRACESTATE || ''),
	propagates: WEFT_PROPAGATE !== undefined && WEFT_PROPAGATE !== '' && WEFT_PROPAGATE !== '0',
};
