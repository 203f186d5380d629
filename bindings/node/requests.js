// SPDX-License-Identifier: ISC
//
// Requests of HTTP, by diagnostics_channel: a task from the request's first line to the end of the reply.
'use strict';

const weft = require('./weft.node'), errors = require('./errors.js'), resources = require('./resources.js');
const channels = require('diagnostics_channel'), hooks = require('async_hooks');

const REQUEST = weft.kind('request'), CLIENT = weft.kind('client request');

const requests = new WeakMap();

class Request {
	constructor(kind, text) {
		this.task = weft.create(resources.parent(), kind, 0);
		this.ended = false;
		weft.label(this.task, text);
	}
	end(event) {
		if (!this.ended)
			weft[event](this.task);
		this.ended = true;
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
		} catch {}
	});
}

function end(message, event) {
	const request = requests.get(message.request);
	if (request !== undefined)
		request.end(event);
}

function failed(message) {
	const request = requests.get(message.request);
	if (request === undefined || request.ended)
		return;
	weft.label(request.task, errors.describe(message.error)); // a second label is a note
	request.end('close');
}

module.exports = {
	begin() {
		on('http.server.request.start', ({request}) => {
			const it = new Request(REQUEST, request.method + ' ' + withoutQuery(request.url));
			requests.set(request, it);
			resources.enter(it.task);
			resources.endsWith(hooks.executionAsyncId(), it);
		});
		on('http.server.response.finish', message => end(message, 'resolve'));
		on('http.client.request.start', ({request}) =>
			requests.set(request, new Request(CLIENT, request.method + ' ' + request.host + withoutQuery(request.path))));
		on('http.client.response.finish', message => end(message, 'resolve'));
		on('http.client.request.error', failed);
		on('undici:request:create', ({request}) =>
			requests.set(request, new Request(CLIENT, request.method + ' ' + request.origin + withoutQuery(request.path))));
		on('undici:request:trailers', message => end(message, 'resolve'));
		on('undici:request:error', failed);
	},
};
