// SPDX-License-Identifier: ISC
// A report is computed in one go, while timers and other tasks wait for their turn. It needs as much
// processor time on a busy machine.
const { setTimeout: sleep } = require('timers/promises');
const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
async function tick() {
	for (let i = 0; i < 40; i++)
		await sleep(5);
}
async function report() {
	await sleep(60);
	const end = used() + 300000;
	while (used() < end);
}
for (let i = 0; i < 4; i++)
	tick();
report();
