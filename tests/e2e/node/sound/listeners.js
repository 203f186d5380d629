// SPDX-License-Identifier: ISC
// Each request takes its listener away.
const { EventEmitter } = require('events');
const bus = new EventEmitter();
const sleep = ms => new Promise(done => setTimeout(done, ms));

async function request(n) {
  const listener = () => n;
  bus.on('change', listener);
  await sleep(1);
  bus.off('change', listener);
}

(async () => {
  for (let n = 0; n < 30; n++)
    await request(n);
})();
