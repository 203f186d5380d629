// SPDX-License-Identifier: ISC
const crypto = require('crypto'), fs = require('fs'), os = require('os'), zlib = require('zlib');
const { pipeline } = require('stream/promises');

(async () => {
	const f = os.tmpdir() + '/weft-node-' + process.pid;
	await pipeline(fs.createReadStream(__filename), zlib.createGzip(), fs.createWriteStream(f));
	console.log(zlib.gunzipSync(fs.readFileSync(f)).length);
	fs.unlinkSync(f);
	console.log((await require('util').promisify(crypto.scrypt)('a', 'b', 8)).toString('hex'));
	await require('dns').promises.lookup('localhost').then(x => console.log(!!x));
	for await (const l of require('readline').createInterface({ input: fs.createReadStream(__filename) }))
		console.log(l.length);
})();
