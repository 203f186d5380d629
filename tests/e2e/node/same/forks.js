// SPDX-License-Identifier: ISC
const cp = require('child_process');
if (process.argv[2]) { process.send({ opts: process.env.NODE_OPTIONS, argv: process.execArgv, has: 'NODE_OPTIONS' in process.env }); process.disconnect(); }
else { const c = cp.fork(__filename, ['child']); c.on('message', m => console.log(m)); c.on('exit', (c, s) => { console.log(c, s); cp.exec('echo $NODE_OPTIONS; node -p 1+1', (e, o, r) => console.log(e, o, r)); }); }
