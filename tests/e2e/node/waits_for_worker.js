// SPDX-License-Identifier: ISC
// The main thread waits for a worker, which waits for an answer of the main thread before it begins.
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
if (isMainThread) {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { workerData: done });
  worker.on('message', () => worker.postMessage('begin'));
  worker.on('online', () => Atomics.wait(done, 0, 0));
  console.log(process.pid);
} else {
  parentPort.once('message', () => { Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0); });
  parentPort.postMessage('may I begin?');
}
