// SPDX-License-Identifier: ISC
// A callback waits in the main thread for what no other thread does: the event loop stands still.
const shared = new Int32Array(new SharedArrayBuffer(4));
setTimeout(function due() {}, 20);
setTimeout(function retry() {
	Atomics.wait(shared, 0, 0, 1500);
}, 1);
