// SPDX-License-Identifier: ISC
// Headers of trace contexts, and what regular expressions leave behind.
const http = require('http'), parent = '00-' + '1'.repeat(32) + '-' + '2'.repeat(16) + '-01';
const shown = list => list.filter((_, i) => !/^(host|keep-alive|connection|user-agent)$/i.test(list[i - i % 2])).join(' ');
const server = http.createServer((request, response) => {
  console.log(shown(request.rawHeaders), Object.keys(request).length, Object.getOwnPropertySymbols(request).length);
  /(mine)/.exec('mine');
  response.end(RegExp.$1);
});
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const headers of [{}, { traceparent: parent, tracestate: 'v=1' }, { traceparent: [parent, parent] }, { constructor: 'x' }])
    await new Promise(done => {
      /(own)/.exec('own');
      const request = http.get(url, { headers, agent: false }, response => response.on('data', String).on('end', () => {
        console.log(RegExp.$1, request.getRawHeaderNames ? request.getRawHeaderNames().join() : '');
        done();
      }));
      console.log(RegExp.$1);
    });
  console.log(await (await fetch(url, { headers: { traceparent: parent } })).text());
  server.close();
  server.closeAllConnections && server.closeAllConnections();
});
