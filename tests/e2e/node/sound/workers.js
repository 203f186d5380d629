// SPDX-License-Identifier: ISC
// Worker threads and child processes.
const { Worker, isMainThread, parentPort } = require('worker_threads'), { execFile } = require('child_process');
const { promisify } = require('util');
if (isMainThread) {
	(async () => {
		const worker = new Worker(__filename);
		worker.postMessage(20);
		await new Promise(resolve => worker.once('message', resolve));
		await promisify(execFile)('true');
	})();
} else {
	parentPort.once('message', n => parentPort.postMessage(n + 1));
}
