// SPDX-License-Identifier: ISC
//
// libuv's threads, which read files, look up names, and compute hashes and keys, as a pool. A request waits for it if all
// threads are at work. Which requests have a thread follows from those that have begun and ended: libuv takes requests in
// order, and uses half of the threads at most to look up names. While no request waits, nothing is recorded.
'use strict';

const weft = require('./weft.node'), events = require('./events.js'), {isMainThread} = require('worker_threads');

// WEFT_KIND_POOL; a kind made of that name is no pool to the detectors of problems.
const POOL = 21;
const NAME = weft.name("libuv's threads");
const SLOW = new Set(['GETADDRINFOREQWRAP', 'GETNAMEINFOREQWRAP']);
// Jobs of crypto. The same objects do the work without a thread if the program has no callback.
const JOBS = new Set(['PBKDF2REQUEST', 'SCRYPTREQUEST', 'HASHREQUEST', 'SIGNREQUEST', 'VERIFYREQUEST', 'CIPHERREQUEST', 'DERIVEBITSREQUEST',
	'KEYGENREQUEST', 'KEYPAIRGENREQUEST', 'RANDOMBYTESREQUEST', 'RANDOMPRIMEREQUEST', 'CHECKPRIMEREQUEST']);
const TYPES = new Set([...SLOW, ...JOBS, 'FSREQCALLBACK', 'FSREQPROMISE']);

const size = Math.min(Math.max(parseInt(process.env.UV_THREADPOOL_SIZE || '4', 10) || 1, 1), 1024), slowMax = (size + 1) >> 1;
const working = new Set();
let slow = 0, task = 0, asked = 0;
// Workers of JavaScript share the threads, but their requests are not known here.
let isKnown = isMainThread;

class Request {
	constructor(task, isSlow) {
		this.task = task;
		this.isSlow = isSlow;
		this.isHolder = false;
		this.isWaiting = false;
		this.number = asked++;
	}
}

// Requests that wait, and some that no longer do: those are dropped once they are half of the list, so the cost of a request is constant on average.
class Queue {
	constructor() {
		this.list = [];
		this.head = 0;
	}
	push(request) {
		request.isWaiting = true;
		this.list.push(request);
	}
	// The first one that waits, or undefined.
	first() {
		while (this.head < this.list.length && !this.list[this.head].isWaiting)
			this.head++;
		if (2 * this.head > this.list.length) {
			this.list = this.list.slice(this.head);
			this.head = 0;
		}
		return this.list[this.head];
	}
}

const waiting = new Queue(), waitingSlow = new Queue();

const canBegin = request => working.size < size && !(request.isSlow && slow >= slowMax);

function begin(request) {
	working.add(request);
	if (request.isSlow)
		slow++;
}

function hold(request) {
	request.isHolder = true;
	events.acquire(request.task, task);
}

function wait(request) {
	if (task === 0)
		task = events.create(0, POOL, NAME);
	for (const other of working)
		if (!other.isHolder)
			hold(other);
	(request.isSlow ? waitingSlow : waiting).push(request);
	events.waits(request.task, task);
}

// The request that gets the free thread, or undefined.
function next() {
	const other = waiting.first(), slowOne = slow < slowMax ? waitingSlow.first() : undefined;
	return slowOne === undefined || (other !== undefined && other.number < slowOne.number) ? other : slowOne;
}

module.exports = {
	isJob: type => JOBS.has(type),
	// Called for each new resource of async_hooks. Returns its request, to be passed to end(), or null.
	ask(type, task) {
		if (type === 'WORKER')
			isKnown = false;
		if (!isKnown || !TYPES.has(type))
			return null;
		const request = new Request(task, SLOW.has(type));
		if (canBegin(request))
			begin(request);
		else
			wait(request);
		return request;
	},
	end(request) {
		if (!working.delete(request)) {
			request.isWaiting = false;
			return;
		}
		if (request.isSlow)
			slow--;
		if (request.isHolder)
			events.release(request.task, task);
		const first = next();
		if (first === undefined)
			return;
		first.isWaiting = false;
		begin(first);
		hold(first);
	},
};
