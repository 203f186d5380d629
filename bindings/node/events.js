// SPDX-License-Identifier: ISC
//
// Events, as records in memory that is shared with the addon. A call of the addon takes longer than what it does, so one
// call takes all that a hook has written. It gives ids for the tasks to come in return.
'use strict';

const weft = require('./weft.node'), errors = require('./errors.js');

// Also in events.c: the first words, ids, and records of three numbers each: what it is, and two tasks.
const FIRST = 0, END = 1, TAKEN = 2, IDS = 3, IDS_MAX = 64, RECORDS = IDS + IDS_MAX, RECORDS_MAX = 128, WORDS = 3;
const CREATE = 1, NAMED = 2, WAITS = 3, ACQUIRE = 4, RELEASE = 5, ENTER = 6, LEAVE = 7, SETTLE = 8, RESOLVE = 9, CANCEL = 10, CLOSE = 11,
	DEADLINE = 12, TIME_OUT = 13;
const KIND = 16;

const shared = new Float64Array(RECORDS + RECORDS_MAX * WORDS);
// Where the next record begins, how many ids were ever taken, and how many are left.
let end = RECORDS, taken = 0, left = 0;
// The promise that the record SETTLE is about, of which there is one at most, and the task.
let settling, settlingTask = 0;

function call(first, promise) {
	shared[FIRST] = first;
	shared[END] = end;
	shared[TAKEN] = taken;
	weft.run(promise);
	left = IDS_MAX;
}

// The task that ran when the first promise failed with such an error: all others fail because of that one.
const aborters = new WeakMap();

function aborterOf(error) {
	if (!aborters.has(error))
		aborters.set(error, weft.current());
	return aborters.get(error);
}

// The rest of the records, from that of a promise that was rejected on.
function reject(error) {
	const at = shared[FIRST], how = errors.isTimeout(error) ? TIME_OUT : errors.isAbort(error) ? CANCEL : 0;
	if (how === 0) {
		weft.fail(settlingTask, errors.describe(error));
		call(at + WORDS);
	} else {
		shared[at] = how;
		shared[at + 2] = aborterOf(error);
		call(at);
	}
}

function run() {
	const promise = settling;
	settling = undefined;
	try {
		call(RECORDS, promise);
		if (shared[FIRST] < end)
			reject(weft.reason(promise));
	} finally {
		end = RECORDS;
	}
}

// Called at the end of each hook.
function flush() {
	if (end !== RECORDS)
		run();
}

function put(what, task, other) {
	if (end === shared.length)
		run();
	shared[end] = what;
	shared[end + 1] = task;
	shared[end + 2] = other;
	end += WORDS;
}

module.exports = {
	flush, RESOLVE, CANCEL, CLOSE,
	// The name is a number of weft.name(), or 0.
	create(parent, kind, name) {
		if (left === 0)
			run();
		left--;
		const task = shared[IDS + taken++ % IDS_MAX];
		put(CREATE + kind * KIND, task, parent);
		if (name !== 0)
			put(NAMED, task, name);
		return task;
	},
	named: (task, name) => put(NAMED, task, name),
	waits: (task, source) => put(WAITS, task, source),
	acquire: (task, resource) => put(ACQUIRE, task, resource),
	release: (task, resource) => put(RELEASE, task, resource),
	// It runs; if there is a source, because that one has ended.
	enter: (task, source) => put(ENTER, task, source),
	leave: () => put(LEAVE, 0, 0),
	// RESOLVE, CANCEL or CLOSE.
	end: (how, task) => put(how, task, 0),
	deadline: (task, ms) => put(DEADLINE, task, typeof ms === 'number' ? ms : 0),
	// The promise has a value or an error.
	settle(task, promise) {
		if (settling !== undefined)
			run();
		settling = promise;
		settlingTask = task;
		put(SETTLE, task, 0);
	},
	label(task, text) {
		flush();
		weft.label(task, text);
	},
	context(task, traceparent, tracestate) {
		flush();
		return weft.context(task, traceparent, tracestate);
	},
	waitsForAny(task, sources) {
		flush();
		weft.waitsForAny(task, sources);
	},
	fail(task, text) {
		flush();
		weft.fail(task, text);
	},
	begin() {
		weft.share(shared);
		run();
	},
};
