// SPDX-License-Identifier: ISC
// Streams, compression, lines, events.
const fs = require('fs'), zlib = require('zlib'), os = require('os'), path = require('path');
const { pipeline } = require('stream/promises'), { once, EventEmitter } = require('events');
(async () => {
	const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'weft-')), 'x.gz');
	await pipeline(fs.createReadStream(__filename), zlib.createGzip(), fs.createWriteStream(file));
	for await (const line of require('readline').createInterface({ input: fs.createReadStream(file).pipe(zlib.createGunzip()) }))
		line.length;
	fs.rmSync(path.dirname(file), { recursive: true });
	const emitter = new EventEmitter();
	setTimeout(() => emitter.emit('ready', 1), 1);
	await once(emitter, 'ready');
})();
