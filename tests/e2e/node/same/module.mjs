// SPDX-License-Identifier: ISC
import { setTimeout as sleep } from 'node:timers/promises';
import fs from 'node:fs/promises';
const t = await fs.readFile(new URL(import.meta.url), 'utf8');
console.log(t.length, import.meta.url.slice(-7));
await sleep(2); console.log(await Promise.allSettled([Promise.reject(new Error('x')), 3]));
await new Promise(() => {});
