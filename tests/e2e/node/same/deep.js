// SPDX-License-Identifier: ISC
// The stack is full somewhere in a hook: errors still have the stacks that the program expects.
let attempts = 0;
function attempt() {
	try {
		(async () => { await 1; })();
		Promise.resolve(1).then(() => {});
		setTimeout(() => {}, 1);
	} catch {}
}
function descend() {
	try {
		descend();
	} catch {}
	if (attempts++ < 1000)
		attempt();
}
descend();
console.log(typeof new Error('x').stack, Error.stackTraceLimit, Reflect.ownKeys(Error));
