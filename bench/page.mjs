// SPDX-License-Identifier: ISC
//
// Opens a page in Chromium for page.py, looks at it from afar and from near, and answers what that
// cost. A replay is timed until its pixels can be read. The first frames are not counted: V8
// optimizes WebAssembly functions only after they have run for a while.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { chromium } = createRequire(process.env.WEFT_NPM + '/')('playwright-core');
const ask = JSON.parse(readFileSync(0, 'utf8'));
const RUNS = 15, FIRST = 40, SHARES = [1, 10, 100, 1000, 10000];

const browser = await chromium.launch({ executablePath: ask.chromium, args: ['--no-sandbox'] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 800 } })).newPage();
await page.goto(ask.url);
await page.waitForFunction(() => window.weft.opened && window.weft.opened.shown, null, { timeout: 600000 });
const opened = await page.evaluate(() => window.weft.opened);

const zooms = [];
for (const share of SHARES)
	zooms.push(await page.evaluate(async ([share, first, runs]) => {
		const pen = document.getElementById('canvas').getContext('2d'), { weft } = window;
		const idle = async () => {
			do
				await new Promise(done => setTimeout(done, 20));
			while (!weft.isIdle());
		};
		weft.command('fit');
		await idle();
		const [, number, unit] = /duration=([\d.]+)(\w+)/.exec(weft.link);
		const whole = number * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit], part = Math.max(Math.round(whole / share), 1);
		weft.command(`view start=${Math.round((whole - part) / 2)}ns duration=${part}ns`);
		await idle();
		const viewer = [], replay = [];
		for (let run = -first; run < runs; run++) {
			weft.command(run % 2 ? 'pan left' : 'pan right');
			await idle();
			if (run < 0)
				continue;
			viewer.push(weft.frames.at(-1)[0]);
			pen.getImageData(0, 0, 1, 1);
			const begun = performance.now();
			weft.draw();
			pen.getImageData(0, 0, 1, 1);
			replay.push(performance.now() - begun);
		}
		const middle = list => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
		return { name: share === 1 ? 'all of it' : `1/${share.toLocaleString('en')} of it`, viewer: middle(viewer), replay: middle(replay),
			operations: weft.frames.at(-1)[2] };
	}, [share, share === 1 ? FIRST : 0, RUNS]));
await browser.close();
console.log(JSON.stringify({ events: opened.events, opening: opened.ms, shown: opened.shown, memory: opened.memory, runs: RUNS, zooms }));
