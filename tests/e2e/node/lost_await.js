// SPDX-License-Identifier: ISC
// A reply is awaited that nobody will give: its message was dropped.
const { setTimeout: sleep } = require('timers/promises');
const waiting = new Map();
function reply(id) {
	return (async function reply() { await new Promise(resolve => waiting.set(id, resolve)); })();
}
async function ask(id) {
	setTimeout(() => id !== 3 && waiting.get(id)(), 2);
	await reply(id);
}
async function main() {
	for (let id = 1; id < 5; id++) {
		await ask(id);
		await sleep(1);
	}
}
main();
