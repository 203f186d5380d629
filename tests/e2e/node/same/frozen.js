// SPDX-License-Identifier: ISC
Object.freeze(Error); Object.freeze(Promise); Object.freeze(Promise.prototype); async function f() { await new Promise(r => setTimeout(r, 1)); return Object.freeze(Promise.resolve(1)); } f().then(console.log); const p = Object.freeze(f()); p.then(console.log);
