// SPDX-License-Identifier: ISC
const c = require('cluster'); if (c.isPrimary) { c.fork({ A: 1 }); c.on('exit', (w, code) => console.log('worker', code)); } else { setTimeout(() => { console.log(process.env.A, process.env.NODE_OPTIONS); process.exit(3); }, 5); }
