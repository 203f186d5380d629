// SPDX-License-Identifier: ISC
// Each request adds a listener, and none takes its listener away.
const { EventEmitter } = require('events');
const bus = new EventEmitter();
const sleep = ms => new Promise(done => setTimeout(done, ms));

async function request(n) {
  bus.on('change', () => n);
  await sleep(1);
}

(async () => {
  for (let n = 0; n < 30; n++)
    await request(n);
})();
