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

// How many microseconds of processor time this process has used.
function used() {
	const { user, system } = process.cpuUsage();
	return String(user + system);
}

const server = http.createServer(async (request, response) =>
	response.end(request.url === '/used' ? used() : await handle(request.url)));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('SIGTERM', () => process.exit());
