// SPDX-License-Identifier: ISC
//
// Begins to record: promises by V8's hooks, other callbacks by async_hooks, requests by diagnostics_channel.
//
// An async function is one task, which runs and waits. A promise is a task if somebody waits for it. Nothing here
// may throw, call functions of the program, or leave anything that the program can see.
'use strict';

const weft = require('./weft.node');

function begin() {
	let reject;
	const rejected = new Promise((_, it) => reject = it);
	rejected.catch(() => {}); // first, or node counts an unhandled rejection
	reject(null);
	weft.knows(new Promise(() => {}), Promise.resolve(), rejected);
	require('./events.js').begin();
	const promises = require('./promises.js'), resources = require('./resources.js');
	const hooks = promises.hooks();
	require('v8').promiseHooks.createHook(hooks);
	resources.begin(hooks);
	require('./requests.js').begin();
	require('./warnings.js').begin();
	// Not by process.on(), because process.eventNames() would show it.
	Object.setPrototypeOf(process._events, {__proto__: null, uncaughtExceptionMonitor: promises.uncaught});
}

if (weft.recording() && process.env.WEFT_NODE !== 'off')
	begin();
