// SPDX-License-Identifier: ISC
// Two of six queries do not give their connection back.
const { setTimeout: sleep } = require('timers/promises');
let free = 2;
const queue = [];
async function acquire() {
	if (free > 0) {
		free--;
		return;
	}
	await new Promise(resolve => queue.push(resolve));
}
function release() {
	const next = queue.shift();
	if (next)
		next();
	else
		free++;
}
async function query(id) {
	await acquire();
	await sleep(3);
	if (id !== 2 && id !== 3)
		release();
	return id;
}
Promise.all([1, 2, 3, 4, 5, 6].map(query));
setTimeout(() => {}, 30);
