// SPDX-License-Identifier: ISC
// Consumers that wait for further jobs when all is done, as they may.
const { setTimeout: sleep } = require('timers/promises');
const jobs = [], waiting = [];
async function next() {
	if (jobs.length > 0)
		return jobs.shift();
	return await new Promise(resolve => waiting.push(resolve));
}
function put(job) {
	const resolve = waiting.shift();
	if (resolve)
		resolve(job);
	else
		jobs.push(job);
}
async function consumer() {
	for (;;) {
		await next();
		await sleep(1);
	}
}
for (let i = 0; i < 3; i++)
	consumer();
(async () => {
	for (let i = 0; i < 12; i++) {
		put(i);
		await sleep(1);
	}
})();
