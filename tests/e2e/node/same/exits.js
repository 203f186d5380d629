// SPDX-License-Identifier: ISC
(async () => { await new Promise(r => setTimeout(r, 2)); process.on('exit', c => console.log('exit', c)); process.stdout.write('x'); process.exit(7); })();
