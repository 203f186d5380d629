// SPDX-License-Identifier: ISC
// A pool whose users give back what they take.
const { setTimeout: sleep } = require('timers/promises');
let free = 2;
const queue = [];
async function withConnection(work) {
	if (free > 0)
		free--;
	else
		await new Promise(resolve => queue.push(resolve));
	try {
		return await work();
	} finally {
		const next = queue.shift();
		if (next)
			next();
		else
			free++;
	}
}
Promise.all([...Array(12).keys()].map(i => withConnection(() => sleep(1, i))));
