// SPDX-License-Identifier: ISC
async function deep(n) { if (n) { await deep(n - 1); return; } await null; throw new TypeError('deep'); }
async function main() { await Promise.all([deep(2), new Promise(r => setTimeout(r, 5))]); }
main();
