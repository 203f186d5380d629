// SPDX-License-Identifier: ISC
async function f() { await 1; }
const p = f(), q = Promise.resolve(3), r = p.then(() => 2);
console.log(p, q, r, Object.getOwnPropertySymbols(p), Reflect.ownKeys(q), Error, Reflect.ownKeys(Error), process.env.NODE_OPTIONS, 'NODE_OPTIONS' in process.env, process.execArgv, process._preload_modules, Object.keys(require.cache).length, module.children.length);
const ah = require('async_hooks'); console.log(ah.executionAsyncId(), ah.triggerAsyncId());
setImmediate(() => { console.log(ah.executionAsyncId(), ah.triggerAsyncId()); setTimeout(() => console.log(p, q, r, new Error('x').stack.split('\n').length), 1); });
p.then(() => console.log(ah.executionAsyncId()));
console.log(Object.keys(process.versions).length, process.eventNames(), process.getMaxListeners());
