// SPDX-License-Identifier: ISC
//
// Errors whose properties are code of the program: nobody reads them.
const say = text => console.log(text);

class Strange extends Error {
	get message() {
		say('message');
	}
	get name() {
		say('name');
	}
}

const trap = new Proxy({}, {get: (_, key) => say(key), getPrototypeOf: () => say('prototype'), getOwnPropertyDescriptor: () => say('property')});
const odd = new Error();
Object.setPrototypeOf(odd, trap);

async function fail(error) {
	await 1;
	throw error;
}

async function main() {
	for (const error of [new Strange(), odd, trap])
		try {
			await fail(error);
		} catch {
			say('caught');
		}
	process.on('uncaughtException', () => say('uncaught'));
	setTimeout(() => {
		throw new Strange();
	}, 1);
	await new Promise(done => setTimeout(done, 5));
}

main();
