// SPDX-License-Identifier: ISC
process.on('unhandledRejection', (r, p) => console.log('unhandled', r.message, p));
process.on('rejectionHandled', p => console.log('handled'));
const p = Promise.reject(new Error('a'));
async function f() { throw new Error('b'); }
f();
setTimeout(() => {
	p.catch(() => {});
	setTimeout(() => new Promise((resolve, reject) => setTimeout(reject, 1, new Error('c'))), 1);
}, 1);
