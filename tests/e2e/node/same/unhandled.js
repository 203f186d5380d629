// SPDX-License-Identifier: ISC
async function f() { await new Promise(r => setTimeout(r, 1)); throw new Error('b'); }
f();
