// SPDX-License-Identifier: ISC
//
// The code that runs: a function and a line of the program.
'use strict';

const weft = require('./weft.node');

// Files and functions that a program makes while it runs have no end. What was not looked up while RECENT_MAX others
// were is forgotten.
const RECENT_MAX = 5000;

class Recent {
	#new = new Map();
	#old = new Map();
	get(key, make) {
		let value = this.#new.get(key);
		if (value !== undefined)
			return value;
		value = this.#old.get(key);
		if (value === undefined)
			value = make(key);
		if (this.#new.size >= RECENT_MAX) {
			this.#old = this.#new;
			this.#new = new Map();
		}
		this.#new.set(key, value);
		return value;
	}
}

const files = new Recent(), builtins = new Recent();

// A location in the program: `label` is a number of weft.name(), and `code` the same object for each location in a
// function. An async function makes its promise where it begins, before anything else, so the first one is that.
class Location {
	constructor(text, code) {
		this.text = text;
		this.label = weft.name(text);
		this.code = code;
		if (code.beginning === null)
			code.beginning = this;
	}
	begins() {
		return this === this.code.beginning || !this.code.isExact;
	}
}

// A function of the language, such as Promise.all, has a name and no location.
class Builtin {
	constructor(name) {
		this.name = name;
	}
}

const none = new Builtin('');

const makeBuiltin = name => new Builtin(name), makeFile = () => ({locations: new Map(), codes: new Map()});

function describe(site, file) {
	const name = site.getFunctionName(), line = file.slice(file.lastIndexOf('/') + 1) + ':' + site.getLineNumber();
	return name ? name + ' at ' + line : line;
}

// Functions of one name in a file are distinct by where they begin, which not each version of V8 knows.
function codeOf(site, codes) {
	const isExact = typeof site.getEnclosingLineNumber === 'function', name = site.getFunctionName();
	const key = isExact ? site.getEnclosingLineNumber() + ':' + site.getEnclosingColumnNumber() : name;
	let code = codes.get(key);
	if (code === undefined)
		codes.set(key, code = {isExact, beginning: null});
	return code;
}

function find(site) {
	const file = site.getFileName();
	if (!file)
		return builtins.get(site.getFunctionName() || '', makeBuiltin);
	const of = files.get(file, makeFile), position = site.getPosition();
	let location = of.locations.get(position);
	if (location === undefined)
		of.locations.set(position, location = new Location(describe(site, file), codeOf(site, of.codes)));
	return location;
}

// Functions of node's own are no code of the program.
const isOfProgram = site => {
	const file = site.getFileName();
	return file && !file.startsWith('node:');
};

const innermost = (error, sites) => sites.length > 0 ? find(sites[0]) : none;
const pair = (error, sites) => [sites.length > 0 ? find(sites[0]) : none, sites.length > 1 ? find(sites[1]) : none];
const outer = (error, sites) => {
	const site = sites.find(isOfProgram);
	return site ? find(site) : none;
};

// Lets `prepare` see the frames above the function `hook`. The program's own settings stay, also if the stack is full:
// restoring them calls no function. A property that is deleted right after it was added leaves no trace.
function capture(hook, prepare, limit) {
	const isOwn = Object.hasOwn(Error, 'prepareStackTrace'), holder = {};
	const oldPrepare = Error.prepareStackTrace, oldLimit = Error.stackTraceLimit;
	try {
		Error.stackTraceLimit = limit;
		Error.prepareStackTrace = prepare;
		Error.captureStackTrace(holder, hook);
		return holder.stack;
	} finally {
		Error.stackTraceLimit = oldLimit;
		if (isOwn)
			Error.prepareStackTrace = oldPrepare;
		else
			delete Error.prepareStackTrace;
	}
}

module.exports = {
	Location, none,
	// The code that called `hook`: a Location or a Builtin.
	innermost: hook => capture(hook, innermost, 1),
	// The same, and the code that called that.
	pair: hook => capture(hook, pair, 2),
	// The innermost code of the program.
	outer: hook => capture(hook, outer, 8),
};
