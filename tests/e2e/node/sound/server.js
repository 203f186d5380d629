// SPDX-License-Identifier: ISC
// A server and its clients.
const http = require('http'), fs = require('fs/promises');
const server = http.createServer(async (request, response) => response.end(String((await fs.readFile(__filename)).length)));
server.listen(0, '127.0.0.1', async () => {
	const agent = new http.Agent({ keepAlive: true });
	const ask = path => new Promise((resolve, reject) => http.get({ agent, host: '127.0.0.1', port: server.address().port, path },
		response => response.resume().on('end', resolve)).on('error', reject));
	await Promise.all(['/a', '/b', '/c'].map(ask));
	await ask('/d');
	agent.destroy();
	server.close();
});
