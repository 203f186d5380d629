// SPDX-License-Identifier: ISC
Error.prepareStackTrace = (e, s) => { calls++; return 'custom ' + e.message + s.length; }; let calls = 0;
async function f() { await null; const e = new Error('q'); console.log(e.stack, calls); } f(); setTimeout(() => { Error.stackTraceLimit = 2; console.log(new Error('z').stack, Error.stackTraceLimit, Object.keys(Error)); }, 2);
