// SPDX-License-Identifier: ISC
for (let i = 0; i < 10; i++) process.on('exit', () => {}); process.emitWarning('w1'); new Buffer(3);
