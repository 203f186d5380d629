// SPDX-License-Identifier: ISC
// Two tasks take two locks in different orders.
const { setTimeout: sleep } = require('timers/promises');
class Lock {
	#isTaken = false;
	#queue = [];
	async lock() {
		if (this.#isTaken)
			await new Promise(resolve => this.#queue.push(resolve));
		this.#isTaken = true;
	}
	unlock() {
		this.#isTaken = false;
		this.#queue.shift()?.();
	}
}
async function both(first, second) {
	await first.lock();
	await sleep(2);
	await second.lock();
	second.unlock();
	first.unlock();
}
const accounts = new Lock(), journal = new Lock();
both(accounts, journal);
both(journal, accounts);
