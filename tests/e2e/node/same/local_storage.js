// SPDX-License-Identifier: ISC
const { AsyncLocalStorage, createHook, executionAsyncId } = require('async_hooks'); const als = new AsyncLocalStorage();
als.run(7, async () => { await null; console.log(als.getStore()); setTimeout(async () => { await new Promise(r => setImmediate(r)); console.log(als.getStore()); }, 1); });
als.run(8, () => process.nextTick(() => console.log(als.getStore()))); console.log(als.getStore());
const ids = []; const h = createHook({ init(id, t) { ids.push(t); } }).enable(); (async () => { await 1; console.log(Promise.resolve(1) instanceof Promise); h.disable(); console.log(ids.join()); })();
