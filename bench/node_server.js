// SPDX-License-Identifier: ISC
//
// A web server as many are: a pool with four connections, a file, a timer, several things at once.
'use strict';
const http = require('http'), fs = require('fs/promises');
const { setTimeout: sleep } = require('timers/promises');

let free = 4;
const queue = [];

async function acquire() {
	if (free > 0)
		free--;
	else
		await new Promise(resolve => queue.push(resolve));
}

function release() {
	const next = queue.shift();
	if (next)
		next();
	else
		free++;
}

async function query(id) {
	await acquire();
	try {
		await sleep(1);
		return id;
	} finally {
		release();
	}
}

async function handle(path) {
	const [text, row] = await Promise.all([fs.readFile(__filename, 'utf8'), query(path)]);
	return row + text.length;
}

// The processor time of this process for a request, in microseconds, of each SLICE requests.
const SLICE = 200, slices = [];
let count = 0, begin = process.cpuUsage();

function measure() {
	if (++count % SLICE !== 0)
		return;
	const { user, system } = process.cpuUsage(begin);
	slices.push((user + system) / SLICE);
	begin = process.cpuUsage();
}

// Those since the last call.
function taken() {
	count = 0;
	begin = process.cpuUsage();
	return JSON.stringify(slices.splice(0));
}

const server = http.createServer(async (request, response) => {
	if (request.url === '/slices')
		return response.end(taken());
	response.end(await handle(request.url));
	measure();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('SIGTERM', () => process.exit());
