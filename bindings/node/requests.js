// SPDX-License-Identifier: ISC
//
// Requests of HTTP, by diagnostics_channel: a task from the request's first line to the end of the reply.
'use strict';

const weft = require('./weft.node'), contexts = require('./contexts.js'), errors = require('./errors.js');
const events = require('./events.js'), promises = require('./promises.js'), resources = require('./resources.js');
const channels = require('diagnostics_channel'), hooks = require('async_hooks');

const REQUEST = weft.kind('request'), CLIENT = weft.kind('client request');

const requests = new WeakMap();

class Request {
	constructor(kind, text) {
		this.task = events.create(resources.parent(), kind, 0);
		this.ended = false;
		this.context = null;
		this.serves = kind === REQUEST ? this : promises.serves();
		events.label(this.task, text);
	}
	end(how) {
		if (!this.ended)
			events.end(how, this.task);
		this.ended = true;
	}
	// The header is from the caller, or from a tracing library in the program.
	joins(header) {
		if (header.traceparent !== '')
			this.context = contexts.start(this.task, header);
	}
	// The context that WEFT_PROPAGATE adds to a request that the program sends.
	leaves() {
		const {serves} = this, outer = serves === null ? contexts.outer : serves.context || contexts.none;
		this.context = contexts.start(this.task, outer) || contexts.start(this.task, contexts.none);
		return this.context;
	}
}

const withoutQuery = path => {
	const end = path.indexOf('?');
	return end < 0 ? path : path.slice(0, end);
};

function on(name, listener) {
	channels.channel(name).subscribe(message => {
		try {
			listener(message);
			events.flush();
		} catch {}
	});
}

function end(message, how) {
	const request = requests.get(message.request);
	if (request !== undefined)
		request.end(how);
}

function failed(message) {
	const request = requests.get(message.request);
	if (request === undefined || request.ended)
		return;
	events.label(request.task, errors.describe(message.error)); // a second label is a note
	request.end(events.CLOSE);
}

function arrives({request}) {
	promises.serve(null); // the connection's last request did not ask for this one
	const it = new Request(REQUEST, request.method + ' ' + withoutQuery(request.url));
	requests.set(request, it);
	it.joins(contexts.ofList(request.rawHeaders));
	if (contexts.propagates && it.context === null)
		it.context = contexts.start(it.task, contexts.none);
	resources.serve(it, hooks.executionAsyncId());
}

function add(request, origin) {
	const it = new Request(CLIENT, request.method + ' ' + origin + withoutQuery(request.path));
	requests.set(request, it);
	return it;
}

// The request's head has been sent.
function sent(request, head) {
	const it = requests.get(request) || add(request, request.host);
	if (it.context === null)
		it.joins(contexts.ofHead(head));
}

// ---- WEFT_PROPAGATE ----

function propagate(request) {
	if (request.hasHeader('traceparent') || requests.has(request))
		return;
	const context = add(request, request.host).leaves();
	if (context === null)
		return;
	request.setHeader('traceparent', context.traceparent);
	if (context.tracestate !== '')
		request.setHeader('tracestate', context.tracestate);
}

// Node 18 to 20 have no channel that reports a request before its head is made.
function propagateOfHttp() {
	const {prototype} = require('http').ClientRequest, implicitHeader = prototype._implicitHeader;
	prototype._implicitHeader = function () {
		try {
			propagate(this);
			events.flush();
		} catch {}
		return Reflect.apply(implicitHeader, this, arguments);
	};
}

function propagateOfFetch(request, it) {
	const context = contexts.isGiven(request.headers) ? null : it.leaves();
	if (context === null)
		return;
	request.addHeader('traceparent', context.traceparent);
	if (context.tracestate !== '')
		request.addHeader('tracestate', context.tracestate);
}

module.exports = {
	begin() {
		on('http.server.request.start', arrives);
		on('http.server.response.finish', message => end(message, events.RESOLVE));
		on('http.client.request.start', ({request}) => sent(request, errors.text(request, '_header')));
		on('http.client.response.finish', message => end(message, events.RESOLVE));
		on('http.client.request.error', failed);
		on('undici:request:create', ({request}) => {
			const it = add(request, request.origin);
			if (contexts.propagates)
				propagateOfFetch(request, it);
		});
		on('undici:client:sendHeaders', ({request, headers}) => sent(request, headers));
		on('undici:request:trailers', message => end(message, events.RESOLVE));
		on('undici:request:error', failed);
		if (contexts.propagates)
			propagateOfHttp();
	},
};
