// SPDX-License-Identifier: ISC
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) { const w = new Worker(__filename, { workerData: 4 }); w.on('message', m => console.log('m', m)); w.on('exit', c => console.log('exit', c)); w.postMessage('hi'); }
else { parentPort.once('message', async m => { await null; console.log(process.env.NODE_OPTIONS, process.execArgv); parentPort.postMessage([m, workerData]); }); }
