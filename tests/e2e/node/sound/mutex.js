// SPDX-License-Identifier: ISC
// A lock made of a chain of promises.
const { setTimeout: sleep } = require('timers/promises');
let last = Promise.resolve();
function lock() {
	let unlock;
	const before = last;
	last = new Promise(resolve => unlock = resolve);
	return before.then(() => unlock);
}
async function critical() {
	const unlock = await lock();
	await sleep(1);
	unlock();
}
Promise.all([1, 2, 3, 4].map(critical));
