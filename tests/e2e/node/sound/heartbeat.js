// SPDX-License-Identifier: ISC
// A heartbeat that does not keep the program alive, and one that is stopped.
const { setTimeout: sleep } = require('timers/promises');
(async () => {
	for (;;)
		await sleep(60000, undefined, { ref: false });
})();
const interval = setInterval(() => {}, 1);
(async () => {
	await sleep(10);
	clearInterval(interval);
})();
