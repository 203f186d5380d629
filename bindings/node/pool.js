// SPDX-License-Identifier: ISC
//
// libuv's threads, which read files, look up names, and compute hashes and keys: a pool, for which a request waits that
// finds all of them at work. Which these are follows from what was asked for, and has ended: libuv takes requests in
// order, and look-ups of names by half of the threads at most. While no request waits, nothing is recorded.
'use strict';

const weft = require('./weft.node'), {isMainThread} = require('worker_threads');

const POOL = weft.kind('pool'), NAME = weft.name("libuv's threads");
const SLOW = new Set(['GETADDRINFOREQWRAP', 'GETNAMEINFOREQWRAP']);
// Of crypto. The same objects do the work without a thread, if the program has no callback.
const JOBS = new Set(['PBKDF2REQUEST', 'SCRYPTREQUEST', 'HASHREQUEST', 'SIGNREQUEST', 'VERIFYREQUEST', 'CIPHERREQUEST', 'DERIVEBITSREQUEST',
	'KEYGENREQUEST', 'KEYPAIRGENREQUEST', 'RANDOMBYTESREQUEST', 'RANDOMPRIMEREQUEST', 'CHECKPRIMEREQUEST']);
const TYPES = new Set([...SLOW, ...JOBS, 'FSREQCALLBACK', 'FSREQPROMISE']);

const size = Math.min(Math.max(parseInt(process.env.UV_THREADPOOL_SIZE || '4', 10) || 1, 1), 1024), slowMax = (size + 1) >> 1;
const working = new Set();
let slow = 0, task = 0, asked = 0;
// The threads are those of the process: what other threads of JavaScript ask for is not known here.
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

// Requests that wait, and some that do not any more. There may be very many: none is moved often.
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
	weft.acquire(request.task, task);
}

function wait(request) {
	if (task === 0)
		task = weft.create(0, POOL, NAME);
	for (const other of working)
		if (!other.isHolder)
			hold(other);
	(request.isSlow ? waitingSlow : waiting).push(request);
	weft.waits(request.task, task);
}

// The request that gets the thread which is free now, or undefined.
function next() {
	const other = waiting.first(), slowOne = slow < slowMax ? waitingSlow.first() : undefined;
	return slowOne === undefined || (other !== undefined && other.number < slowOne.number) ? other : slowOne;
}

module.exports = {
	isJob: type => JOBS.has(type),
	// Called with each new resource of async_hooks; what it returns, ends.
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
			weft.release(request.task, task);
		const first = next();
		if (first === undefined)
			return;
		first.isWaiting = false;
		begin(first);
		hold(first);
	},
};
