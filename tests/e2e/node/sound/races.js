// SPDX-License-Identifier: ISC
// Time-outs that win or lose, aborted timers, and errors that are caught.
const { setTimeout: sleep } = require('timers/promises');
async function withTimeout(work, ms) {
	const abort = new AbortController();
	const timeout = sleep(ms, undefined, { signal: abort.signal }).then(() => { throw new Error('timeout'); });
	try {
		return await Promise.race([work, timeout]);
	} finally {
		abort.abort();
		timeout.catch(() => {});
	}
}
(async () => {
	await withTimeout(sleep(1), 1000);
	await withTimeout(sleep(5), 1).catch(() => {});
	await Promise.allSettled([Promise.reject(new Error('a')), sleep(1)]);
	await Promise.any([Promise.reject(new Error('b')), sleep(1)]);
})();
