// SPDX-License-Identifier: ISC
async function* g() { try { yield 1; await null; yield 2; } finally { console.log('fin'); } } (async () => { for await (const x of g()) { console.log(x); if (x === 2) break; } const it = g(); console.log(await Promise.all([it.next(), it.next(), it.return(5)]));
 class T { then(r) { r(9); } } console.log(await new T()); console.log(await Promise.race([new Promise(r => setTimeout(r, 3, 'a')), 'b']), await Promise.any([Promise.reject(1), 2])); class P2 extends Promise {} console.log(await new P2(r => r(3)), await P2.all([1, P2.resolve(2)])); })();
