// SPDX-License-Identifier: ISC
//
// Values by the numbers of async_hooks, which only grow. Most values live for a short time, and there are few at a time:
// then each has a slot of its own, which is found faster than by a Map.
'use strict';

const SLOTS = 1024;

module.exports = class {
	#numbers = new Float64Array(SLOTS);
	#values = new Array(SLOTS).fill(undefined);
	#others = new Map();
	set(number, value) {
		const slot = number % SLOTS, found = this.#numbers[slot];
		if (found !== number && (found !== 0 || this.#others.has(number))) {
			this.#others.set(number, value);
			return;
		}
		this.#numbers[slot] = number;
		this.#values[slot] = value;
	}
	// Undefined if there is none.
	get(number) {
		const slot = number % SLOTS;
		if (this.#numbers[slot] === number)
			return this.#values[slot];
		return this.#others.size > 0 ? this.#others.get(number) : undefined;
	}
	delete(number) {
		const slot = number % SLOTS;
		if (this.#numbers[slot] === number) {
			this.#numbers[slot] = 0;
			this.#values[slot] = undefined;
		} else if (this.#others.size > 0) {
			this.#others.delete(number);
		}
	}
};
