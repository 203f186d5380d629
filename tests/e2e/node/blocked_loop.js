// SPDX-License-Identifier: ISC
// A report is computed in one go, while timers and other tasks wait for their turn.
const { setTimeout: sleep } = require('timers/promises');
async function tick() {
	for (let i = 0; i < 40; i++)
		await sleep(5);
}
async function report() {
	await sleep(60);
	const end = process.hrtime.bigint() + 300000000n;
	while (process.hrtime.bigint() < end);
}
for (let i = 0; i < 4; i++)
	tick();
report();
