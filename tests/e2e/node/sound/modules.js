// SPDX-License-Identifier: ISC
// A module with awaits at its top level, and asynchronous generators.
const { setTimeout: sleep } = require('timers/promises');
async function* numbers() {
	try {
		for (let i = 0; i < 5; i++) {
			await sleep(1);
			yield i;
		}
	} finally {
		await null;
	}
}
import('data:text/javascript,await new Promise(done => setTimeout(done, 1)); export default 1').then(async () => {
	for await (const n of numbers())
		if (n === 3)
			break;
});
