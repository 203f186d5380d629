// SPDX-License-Identifier: ISC
// A task waits for a child process in one call, while timers and other tasks wait for their turn.
const { execSync } = require('child_process'), { setTimeout: sleep } = require('timers/promises');
async function tick() {
	for (let i = 0; i < 40; i++)
		await sleep(5);
}
async function build() {
	await sleep(60);
	execSync('sleep 0.4');
}
for (let i = 0; i < 4; i++)
	tick();
build();
