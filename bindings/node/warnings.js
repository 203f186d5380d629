// SPDX-License-Identifier: ISC
//
// Warnings that node gives, such as one about listeners that are added and not removed: a task that ends at once, below
// the function that did it. Other listeners of the event would be seen in process.listeners(), so node's own is wrapped: a
// proxy of a function looks like it.
'use strict';

const weft = require('./weft.node'), errors = require('./errors.js'), events = require('./events.js'), promises = require('./promises.js');

const WARNING = weft.kind('warning');
// So the text names the listeners before it is cut.
const PREAMBLE = 'Possible EventEmitter memory leak detected. ';

// Node calls its listener by process.nextTick(), and the function that asked for that is the present parent.
function record(warning) {
	try {
		const task = events.create(promises.parent(), WARNING, 0);
		events.label(task, errors.describe(warning).replace(PREAMBLE, ''));
		events.end(events.RESOLVE, task);
		events.flush();
	} catch {}
}

module.exports = {
	begin() {
		const own = process._events.warning;
		if (typeof own !== 'function')
			return; // with --no-warnings there is none
		process._events.warning = new Proxy(own, {
			apply(listener, self, values) {
				record(values[0]);
				return Reflect.apply(listener, self, values);
			},
		});
	},
};
