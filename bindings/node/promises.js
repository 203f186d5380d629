// SPDX-License-Identifier: ISC
//
// Promises, by the hooks of V8.
//
// An await makes a promise of its own, whose parent is the one that is awaited: it is a *part* of the function, and
// no task. When an async function is called, its promise is made in its own frame, without a parent: that is how it
// is known. It runs until its first await, and later from each `before` of a part on.
'use strict';

const weft = require('./weft.node'), errors = require('./errors.js'), events = require('./events.js'), frames = require('./frames.js');
const {Location} = frames;

const PENDING = 1, PROMISE = 15, JOIN = 6;
const isGuess = process.env.WEFT_NODE === 'guess';
// The kind of tasks that are guessed; the detectors of problems know its name.
const ASYNC = weft.kind(isGuess ? 'guessed async' : 'async'), THEN = weft.kind('then');
const UNCAUGHT = weft.name('uncaught exception');
const JOINS = new Set(['all', 'allSettled']), ANY = new Set(['race', 'any']), GENERATOR = new Set(['next', 'return', 'throw']);

// Private fields can be added to any object, and nobody sees them: neither reflection nor console.log.
const Itself = function (object) {
	return object;
};

// A function, or another promise. `task` is 0 until somebody waits.
class Entry {
	constructor(kind, location, code) {
		this.kind = kind;
		this.location = location;
		this.label = location instanceof Location ? location.label : 0;
		this.code = code;
		this.task = 0;
		this.ended = false;
		this.any = null;
		this.serves = serves;
	}
}

class Entered extends Itself {
	#entry;
	constructor(promise, entry) {
		super(promise);
		this.#entry = entry;
	}
	static of(promise) {
		return #entry in promise ? promise.#entry : undefined;
	}
}

// A promise whose callback belongs to an entry, which `source` lets go on.
class Part extends Itself {
	#entry;
	#source;
	constructor(promise, entry, source) {
		super(promise);
		this.#entry = entry;
		this.#source = source;
	}
	static of(promise) {
		return #entry in promise ? promise.#entry : undefined;
	}
	static source(promise) {
		return promise.#source;
	}
}

// `running`, from `base` on: functions that were called and have not come to an await, the innermost last; before that,
// those of the callbacks around this one. `current`: the one that went on after an await, and has called them.
const running = [];
let base = 0, current = null, locking = null, joining = null, rejected = [];
// `serves`: the request for which the running code works; what it starts inherits that. `asker`: the task that asked for
// this callback, if the callback has no task of its own; 0: none.
let serves = null, asker = 0;
// The entry that has ended, and its promise. V8 calls `settled` before the promise has a state, and never again: so
// the end is recorded with whatever happens next on the thread.
let ended = null, endedPromise = null;
// A promise that V8 has made for the value that the function awaits.
let wrapped = null, wrapping = null;
const REMEMBERED_MAX = 1024;
const saved = [];

// Of functions without a frame; other tasks have none.
const NO_CODE = {};

// ---- Tasks ----

function create(entry, parent) {
	if (entry.task === 0)
		entry.task = events.create(parent, entry.kind, entry.label);
	return entry.task;
}

function name(entry, label) {
	entry.label = label;
	if (entry.task !== 0 && label !== 0)
		events.named(entry.task, label);
}

// The functions that have called this one get tasks before it.
function createRunning(end) {
	let parent = asker;
	for (let i = base; i < end; i++)
		parent = create(running[i], parent);
	return parent;
}

// The entry of a promise that `waiter` waits for from `location` on; null if it has ended without an entry.
function source(promise, location, waiter) {
	let entry = Entered.of(promise);
	if (entry === undefined) {
		if (weft.state(promise) !== PENDING)
			return null;
		entry = new Entry(PROMISE, location, null);
		new Entered(promise, entry);
	}
	if (entry.label === 0)
		name(entry, location instanceof Location ? location.label : waiter.label);
	if (entry.task === 0 && !entry.ended)
		create(entry, entry.kind === PROMISE ? waiter.task : 0);
	return entry.task === 0 ? null : entry;
}

// How many of node's tasks are entered. If none is, weft.current() is another task, such as that of the eventfd that wakes the loop.
let inside = 0;

function enter(task, from) {
	inside++;
	events.enter(task, from);
}

function leave() {
	inside--;
	events.leave();
}

function end() {
	const entry = ended, promise = endedPromise;
	ended = endedPromise = null;
	events.settle(entry.task, promise);
}

function wait(entry, from) {
	if (from !== null && !from.ended)
		events.waits(entry.task, from.task);
}

function becomesPart(promise, entry, from) {
	new Part(promise, entry, from === null ? 0 : from.task);
}

// ---- Awaits ----

// A generator has no frame of its own when it is called, so it is identified at its first await.
function identify(entry, location) {
	entry.code = location.code;
	if (entry.label === 0)
		name(entry, location.label);
}

// The function that awaits at `location`.
function awaiting(location, awaited) {
	for (let i = running.length - 1; i >= base; i--)
		if (running[i].code === location.code && running[i] !== awaited)
			return take(i);
	if (current !== null && current.code === location.code) {
		keep(base);
		return current;
	}
	for (let i = running.length - 1; i >= base; i--)
		if (running[i].code === null && running[i] !== awaited) {
			identify(running[i], location);
			return take(i);
		}
	if (awaited !== undefined && awaited.code === location.code)
		return own(awaited); // the value is an object with a function then()
	// A module, or a generator that went on when its next value was asked for.
	const entry = new Entry(ASYNC, location, location.code);
	create(entry, createRunning(running.length));
	return entry;
}

// To set an array's length is slow.
function keep(end) {
	while (running.length > end)
		running.pop();
}

function take(index) {
	const entry = running[index];
	create(entry, createRunning(index));
	keep(index);
	return entry;
}

// Where it is among those that run; -1: it is not.
function find(entry) {
	let index = running.length - 1;
	while (index >= base && running[index] !== entry)
		index--;
	return index >= base ? index : -1;
}

function own(entry) {
	const index = find(entry);
	return index < 0 ? entry : take(index);
}

function awaits(promise, parent, location) {
	const awaited = Entered.of(parent), entry = awaiting(location, awaited);
	if (awaited === entry)
		return;
	const from = source(parent, location, entry);
	becomesPart(promise, entry, from);
	wait(entry, from);
}

// If a function awaits what is no promise, V8 makes one, whose parent is the function's own, and which is settled at
// once. If it is not, the function was called by the one that awaits it.
let undecided = null, undecidedParent = null, undecidedLocation = null;

function mayBeValue(promise, parent, location) {
	undecided = promise;
	undecidedParent = parent;
	undecidedLocation = location;
}

function decide(isValue) {
	const promise = undecided, parent = undecidedParent;
	undecided = undecidedParent = null;
	if (isValue) {
		wrapped = promise;
		wrapping = own(Entered.of(parent));
	} else if (isGuess)
		guessAwait(promise, parent);
	else
		awaits(promise, parent, undecidedLocation);
}

// True if no function is known to run at `location`: then `entry` is a generator that was just called for the first time.
function beginsGenerator(entry, location) {
	return entry.code === null && find(entry) >= 0 && (current === null || current.code !== location.code)
		&& !running.some((it, i) => i >= base && it.code === location.code);
}

function awaitedBy(promise, parent, location) {
	const awaited = Entered.of(parent);
	if (awaited !== undefined && beginsGenerator(awaited, location))
		identify(awaited, location);
	if (awaited !== undefined && awaited.code === location.code && (awaited === current || find(awaited) >= 0))
		mayBeValue(promise, parent, location);
	else
		awaits(promise, parent, location);
}

// True for an await of the promise that was made last.
function isOfValue(promise, parent) {
	const is = parent === wrapped, entry = wrapping;
	wrapped = wrapping = null;
	if (is)
		becomesPart(promise, entry, null);
	return is;
}

// Called for each new promise: records what waited for it. True if it is the await of a value.
function completesValue(promise, parent) {
	if (ended !== null)
		end();
	if (undecided !== null)
		decide(false);
	return wrapped !== null && isOfValue(promise, parent);
}

// ---- Promise.all and its like, then ----

function joins(promise, parent) {
	create(joining, createRunning(running.length));
	const from = source(parent, frames.none, joining);
	becomesPart(promise, joining, from);
	if (from === null)
		return;
	if (joining.any === null)
		wait(joining, from);
	else
		joining.any.push(from.task);
}

// Promise.race names what it waits for one by one.
function endJoin() {
	const entry = joining;
	joining = null;
	if (entry.any !== null && entry.any.length > 0 && !entry.ended)
		events.waitsForAny(entry.task, entry.any);
}

function then(promise, parent) {
	const entry = locking || new Entry(THEN, isGuess ? frames.none : frames.outer(init), null);
	create(entry, createRunning(running.length));
	const from = source(parent, frames.none, entry);
	if (locking === null)
		new Entered(promise, entry);
	becomesPart(promise, entry, from);
	wait(entry, from);
}

// ---- The hooks ----

function begins(promise, from) {
	if (from instanceof Location) {
		if (!from.begins())
			return; // node itself has made it, as that of a file that is opened
		const entry = new Entry(ASYNC, from, from.code);
		new Entered(promise, entry);
		running.push(entry);
	} else if (GENERATOR.has(from.name)) {
		const entry = new Entry(ASYNC, frames.none, null);
		new Entered(promise, entry);
		running.push(entry);
	} else if ((JOINS.has(from.name) || ANY.has(from.name)) && joining === null) {
		joining = new Entry(JOIN, frames.outer(init), null);
		joining.any = ANY.has(from.name) ? [] : null;
		new Entered(promise, joining);
	}
}

// ---- Guesses, without frames ----

// The last function that was called and is not the one that is awaited, or the one that went on.
function guessAwait(promise, parent) {
	const awaited = Entered.of(parent);
	let index = running.length - 1;
	while (index >= base && running[index] === awaited)
		index--;
	const isCalled = index >= base;
	if (locking !== null || (!isCalled && (current === null || current === awaited))) {
		then(promise, parent);
		return;
	}
	const entry = isCalled ? take(index) : current, from = source(parent, frames.none, entry);
	keep(isCalled ? index : base);
	becomesPart(promise, entry, from);
	wait(entry, from);
}

function guessInit(promise, parent) {
	if (completesValue(promise, parent))
		return;
	if (parent === undefined) {
		const entry = new Entry(ASYNC, frames.none, NO_CODE);
		new Entered(promise, entry);
		running.push(entry);
		return;
	}
	const awaited = Entered.of(parent);
	if (awaited !== undefined && (awaited === current || (running.length > base && running[running.length - 1] === awaited)))
		mayBeValue(promise, parent, null);
	else
		guessAwait(promise, parent);
}

function guess(promise, parent) {
	try {
		guessInit(promise, parent);
		events.flush();
	} catch {}
}

// ---- Exactly ----

function exactInit(promise, parent) {
	if (completesValue(promise, parent))
		return;
	let from;
	if (joining === null) {
		from = frames.innermost(init);
	} else {
		const both = frames.pair(init);
		from = both[0];
		if (from instanceof Location || (from.name === 'then' && !isOfJoin(both[1])))
			endJoin();
	}
	if (parent === undefined)
		begins(promise, from);
	else if (from instanceof Location)
		awaitedBy(promise, parent, from);
	else if (joining !== null && from.name === 'then')
		joins(promise, parent);
	else if (from.name === 'then')
		then(promise, parent);
}

function init(promise, parent) {
	try {
		exactInit(promise, parent);
		events.flush();
	} catch {}
}

const isOfJoin = from => JOINS.has(from.name) || ANY.has(from.name);

// Another callback begins or ends.
function complete() {
	if (ended !== null)
		end();
	if (undecided !== null)
		decide(false);
	if (joining !== null)
		endJoin();
}

// From now on nothing runs but `entry`.
function push(entry) {
	complete();
	saved.push(base, current, serves, asker);
	base = running.length;
	current = entry;
	serves = null;
	asker = 0;
}

function pop() {
	complete();
	keep(base);
	asker = saved.pop();
	serves = saved.pop();
	current = saved.pop();
	base = saved.pop();
	if (saved.length === 0) {
		base = 0;
		keep(0);
		current = serves = null;
		asker = 0;
	}
}

function before(promise) {
	try {
		const entry = Part.of(promise);
		push(entry === undefined || entry.code === null ? null : entry);
		if (entry === undefined) {
			locking = Entered.of(promise) || null;
			serves = locking === null ? null : locking.serves;
		} else {
			serves = entry.serves;
			enter(entry.task, Part.source(promise));
		}
		events.flush();
	} catch {}
}

function after(promise) {
	try {
		pop();
		locking = null;
		if (Part.of(promise) !== undefined)
			leave();
		events.flush();
	} catch {}
}

// A program may go from promise to promise without a callback for long.
function remember(promise) {
	if (rejected.length >= REMEMBERED_MAX) {
		const left = rejected.filter(it => weft.unhandled(it));
		rejected = left.length < REMEMBERED_MAX / 2 ? left : [];
	}
	rejected.push(promise);
}

function settle(promise) {
	if (ended !== null)
		end();
	if (undecided !== null)
		decide(undecided === promise);
	const entry = Entered.of(promise);
	if (entry === undefined) {
		if (Part.of(promise) === undefined)
			remember(promise);
		return;
	}
	entry.ended = true;
	const index = find(entry);
	if (index >= 0)
		keep(index);
	if (entry.task !== 0) {
		ended = entry;
		endedPromise = promise;
	} else
		remember(promise);
}

function settled(promise) {
	try {
		settle(promise);
		events.flush();
	} catch {}
}

// Promises without a task that were settled since the last callback: those that were rejected, and have no handler
// now, get one.
function unhandled() {
	if (ended !== null)
		end();
	if (rejected.length === 0)
		return;
	const list = rejected;
	rejected = [];
	for (const promise of list)
		if (weft.unhandled(promise)) {
			const entry = Entered.of(promise) || new Entry(PROMISE, frames.none, null);
			events.settle(create(entry, 0), promise);
		}
}

function uncaught(error, origin) {
	try {
		unhandled();
		const isThrown = origin === 'uncaughtException';
		if (isThrown || errors.isAbort(error)) // the promise of an unhandled rejection has failed, or was cancelled
			events.fail((isThrown && inside > 0 && weft.current()) || events.create(0, PROMISE, UNCAUGHT), errors.describe(error));
		events.flush();
	} catch {}
}

module.exports = {
	hooks: () => ({init: isGuess ? guess : init, before, after, settled}), isGuess, uncaught, unhandled, push, pop, enter, leave,
	// The function that runs, or null.
	function: () => running.length > base ? running[running.length - 1] : current,
	serves: () => serves,
	serve(request) {
		serves = request;
		asker = 0;
	},
	// The owner of a callback that is registered now: the function that runs, or the request that is served; null: none.
	asks() {
		const entry = running.length > base ? running[running.length - 1] : current;
		return entry !== null ? entry : serves;
	},
	// `it` asked for this callback. If `it` is a function that has ended, or never had a task, its request asked instead.
	askedBy(it) {
		serves = it.serves;
		asker = (it.ended || it.task === 0) && serves !== null ? serves.task : it.task;
	},
	// The task of it, for what it asks for; 0: none.
	parent: () => createRunning(running.length),
};
