// SPDX-License-Identifier: ISC
//
// Callbacks of node that are no promises: timers, files, names, processes, workers. Connections are tasks of the
// adapter io.
'use strict';

const weft = require('./weft.node'), events = require('./events.js'), frames = require('./frames.js'), pool = require('./pool.js');
const promises = require('./promises.js'), Slots = require('./slots.js');

const TIMER = 20;

// Their callbacks run in the task that runs already: that of the connection, or of the function that asked for it.
const PASSED = new Set(['PROMISE', 'TCPWRAP', 'TCPSERVERWRAP', 'PIPEWRAP', 'PIPESERVERWRAP', 'TTYWRAP', 'UDPWRAP', 'UDPSENDWRAP',
	'HTTPINCOMINGMESSAGE', 'HTTPCLIENTREQUEST', 'HTTPParser', 'SHUTDOWNWRAP', 'WRITEWRAP', 'JSSTREAM', 'JSUDPWRAP', 'STREAMPIPE',
	'TLSWRAP', 'FILEHANDLE', 'FILEHANDLECLOSEREQ', 'SIGNALWRAP', 'STATWATCHER', 'FSEVENTWRAP', 'DNSCHANNEL',
	'INSPECTORJSBINDING', 'BLOBREADER', 'ELDHISTOGRAM', 'HEAPSNAPSHOT', 'WORKERHEAPSNAPSHOT', 'Microtask',
	'bootstrap', 'TickObject']);
// The types in PASSED whose callbacks have no task of their own, but belong to the code that asked for them, as do the tasks that they make.
const ASKED = new Set(['TickObject', 'Microtask', 'HTTPCLIENTREQUEST', 'WRITEWRAP', 'SHUTDOWNWRAP']);
// These may call more than once.
const LONG = new Set(['MESSAGEPORT', 'WORKER', 'PROCESSWRAP', 'ZLIB', 'BROTLICOMPRESS', 'HTTP2SESSION', 'HTTP2STREAM', 'HTTP2PING']);
const NAMES = {
	__proto__: null,
	FSREQCALLBACK: 'fs', FSREQPROMISE: 'fs', GETADDRINFOREQWRAP: 'dns', GETNAMEINFOREQWRAP: 'dns', QUERYWRAP: 'dns',
	TCPCONNECTWRAP: 'connect', PIPECONNECTWRAP: 'connect', Timeout: 'timer', Immediate: 'immediate', MESSAGEPORT: 'messages',
	PROCESSWRAP: 'process', WORKER: 'worker',
};

// Requests that end with the resource that reads them, if they have not ended before.
const requests = new Slots();

// The function or request to which the callbacks of a resource without a task belong, by the id of the resource.
const askers = new Slots();

const tasks = new Slots(), types = new Map(), names = new Map(), NAMES_MAX = 10000;

// How many tasks were entered in each callback that runs.
const entered = [];

// How many timers of the program are to fire. The addon reads it when the event loop has ended.
const timers = new Int32Array(1);

class Resource {
	constructor(task, isOnce, timer, isCounted) {
		this.task = task;
		this.isOnce = isOnce;
		this.timer = timer;
		this.isCounted = isCounted;
		this.request = null;
		this.ended = false;
		this.serves = promises.serves();
		if (isCounted)
			timers[0]++;
	}
	endRequest() {
		if (this.request !== null)
			pool.end(this.request);
		this.request = null;
	}
	end(how) {
		this.endRequest();
		if (this.ended)
			return;
		this.ended = true;
		events.end(how, this.task);
		if (this.isCounted)
			timers[0]--;
	}
}

// Of resources, by the name that node gives it.
class Type {
	constructor(type) {
		this.isPassed = PASSED.has(type);
		this.isAsked = ASKED.has(type);
		this.isOnce = !LONG.has(type);
		this.isTimer = type === 'Timeout';
		this.isJob = pool.isJob(type);
		this.text = NAMES[type] || type.toLowerCase();
		this.kind = this.isTimer ? TIMER : this.isPassed ? 0 : weft.kind(this.text);
	}
}

function typeOf(type) {
	let it = types.get(type);
	if (it === undefined)
		types.set(type, it = new Type(type));
	return it;
}

function detail(type, resource) {
	if (type === 'Timeout')
		return ' ' + resource._idleTimeout + ' ms';
	if (type === 'GETADDRINFOREQWRAP' && typeof resource.hostname === 'string')
		return ' ' + resource.hostname;
	if (type === 'TCPCONNECTWRAP' && typeof resource.address === 'string')
		return ' ' + resource.address + ':' + resource.port;
	return '';
}

function nameOf(type, resource, from) {
	let text = typeOf(type).text + detail(type, resource);
	if (from.text !== undefined && names.size < NAMES_MAX)
		text += ' in ' + from.text;
	let name = names.get(text);
	if (name === undefined) {
		if (names.size > 2 * NAMES_MAX)
			return 0;
		names.set(text, name = weft.name(text));
	}
	return name;
}

// The function that runs or, outside of async functions, the code that runs: to look for that takes longer.
function where() {
	const running = promises.function();
	if (running !== null && running.location.text !== undefined)
		return running.location;
	return promises.isGuess ? frames.none : frames.outer(init);
}

// A job of crypto gets its callback right after its init hook has run, so the next hook looks for it. Without one, the job has run by then.
let job = null;

function decide() {
	const {id, type, resource} = job, it = tasks.get(id);
	job = null;
	if (it === undefined)
		return;
	if (resource.ondone !== undefined) {
		it.request = pool.ask(type, it.task);
	} else {
		tasks.delete(id);
		it.end(events.RESOLVE);
	}
}

function begin(id, type, resource) {
	if (job !== null)
		decide();
	const of = typeOf(type);
	if (of.isPassed) {
		const asker = of.isAsked ? promises.asks() : null;
		if (asker !== null)
			askers.set(id, asker);
		return;
	}
	const from = where(), task = events.create(promises.parent(), of.kind, nameOf(type, resource, from));
	const timer = of.isTimer ? resource : null;
	if (timer !== null)
		events.deadline(task, timer._idleTimeout);
	const it = new Resource(task, of.isOnce, timer, timer !== null && (promises.isGuess || from.text !== undefined));
	tasks.set(id, it);
	if (of.isJob)
		job = {id, type, resource};
	else
		it.request = pool.ask(type, task);
}

function init(id, type, trigger, resource) {
	try {
		begin(id, type, resource);
		events.flush();
	} catch {}
}

function enter(task) {
	promises.enter(task, 0);
	entered[entered.length - 1]++;
}

function before(id) {
	try {
		if (job !== null)
			decide();
		promises.unhandled();
		promises.push(null);
		entered.push(0);
		const it = tasks.get(id), asker = it === undefined ? askers.get(id) : undefined;
		if (it !== undefined) {
			it.endRequest();
			promises.serve(it.serves);
			enter(it.task);
		} else if (asker !== undefined)
			promises.askedBy(asker);
		events.flush();
	} catch {}
}

function after(id) {
	try {
		if (job !== null)
			decide();
		promises.pop();
		const it = tasks.get(id);
		if (it !== undefined) {
			if (it.timer === null ? it.isOnce : it.timer._repeat === null)
				it.end(events.RESOLVE);
			else if (it.timer !== null && it.timer._destroyed)
				it.end(events.CANCEL);  // the hook for that comes after the loop's next event, which may be far away
			else if (it.timer !== null)
				events.deadline(it.task, it.timer._repeat);
		}
		for (let count = entered.pop() || 0; count > 0; count--)
			promises.leave();
		events.flush();
	} catch {}
}

function destroy(id) {
	try {
		const it = tasks.get(id), request = requests.get(id);
		askers.delete(id);
		if (it !== undefined) {
			tasks.delete(id);
			it.end(it.timer === null ? events.CLOSE : events.CANCEL);
		}
		if (request !== undefined) {
			requests.delete(id);
			request.end(events.CLOSE);
		}
		events.flush();
	} catch {}
}

// Node adds hooks for promises to those of async_hooks, which leave symbols that console.log shows, and take most of
// the time. Ours alone are set again. If the program itself uses async_hooks, node sets both, as it does anyway.
function setOnly(hooks) {
	const old = process.noDeprecation;
	process.noDeprecation = true;
	try {
		process.binding('async_wrap').setPromiseHooks(hooks.init, hooks.before, hooks.after, hooks.settled);
	} finally {
		if (old === undefined)
			delete process.noDeprecation;
		else
			process.noDeprecation = old;
	}
}

module.exports = {
	parent: promises.parent,
	// The request runs until the present callback ends. Later callbacks of the resource from which it is read belong to it.
	serve(request, id) {
		promises.serve(request);
		if (entered.length > 0)
			enter(request.task);
		askers.set(id, request);
		requests.set(id, request);
	},
	begin(hooks) {
		weft.timers(timers);
		require('async_hooks').createHook({init, before, after, destroy}).enable();
		setOnly(hooks);
	},
};
