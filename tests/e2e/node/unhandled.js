// SPDX-License-Identifier: ISC
// An error that nobody expects.
const { setTimeout: sleep } = require('timers/promises');
async function charge(card) {
	await sleep(2);
	throw new Error(card + ' expired');
}
setTimeout(() => charge('card'), 1);
