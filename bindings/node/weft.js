// SPDX-License-Identifier: ISC
//
// `weft record` names this file in NODE_OPTIONS. It has to be understood by the oldest node, and must not change
// what the program sees.
'use strict';

(function () {
	// The adapters have put our option before those that the program was given, if it was given any.
	const options = process.env.NODE_OPTIONS || '';
	const ours = /^--require="(?:[^"\\]|\\.)*\/weft\.js"( |$)/.exec(options);
	if (ours && ours[1] === '')
		delete process.env.NODE_OPTIONS;
	else if (ours)
		process.env.NODE_OPTIONS = options.slice(ours[0].length);
	const folder = __dirname, cache = require.cache;
	try {
		if (parseInt(process.versions.node, 10) >= 18)
			require('./record.js');
	} catch (error) {
		// Not to record is better than to end the program.
		if (process.env.WEFT_NODE_DEBUG)
			throw error;
	}
	if (process._preload_modules && /\/weft\.js$/.test(process._preload_modules[0]))
		process._preload_modules.shift();
	for (const file of Object.keys(cache))
		if (file.slice(0, folder.length) === folder)
			delete cache[file];
})();
