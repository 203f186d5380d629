// SPDX-License-Identifier: ISC
let made = 0; function f() { try { return f() + 1; } catch (e) { try { Promise.resolve(); made++; } catch {} try { setTimeout(() => {}, 1); made++; } catch {} try { (async () => { await 1; })(); made++ } catch {} return 0; } }
f(); console.log(made > 0); setTimeout(() => console.log('alive'), 5);
