// SPDX-License-Identifier: ISC
// Three tasks wait for a promise that is never resolved.
const { setTimeout: sleep } = require('timers/promises');
let ready;
const isReady = new Promise(resolve => ready = resolve);
async function client(name) {
	await sleep(1);
	await isReady;
	console.log(name);
}
async function server() {
	await sleep(3); // and forgets to call ready()
}
server();
for (const name of ['a', 'b', 'c'])
	client(name);
