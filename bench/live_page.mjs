// SPDX-License-Identifier: ISC
//
// Opens the page of a running program in Chromium for live_page.py. Each line of standard input is a number of
// events to wait for, or a command of the viewer. The answer is what the worker has cost until then.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { chromium } = createRequire(process.env.WEFT_NPM + '/')('playwright-core');
const [path, url] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
const processes = await browser.newBrowserCDPSession();
const page = await (await browser.newContext({ viewport: { width: 1400, height: 800 } })).newPage();
await page.goto(url);
await page.waitForFunction(() => window.weft);
await page.evaluate(() => {
	let opened = null;
	window.refreshes = 0;
	Object.defineProperty(window.weft, 'opened', { get: () => opened, set(facts) {
		opened = facts;
		window.refreshes += facts ? 1 : 0;
	} });
});

// Processor time of a thread in ms, by the ticks of proc(5), of which a second has 100.
function threadTime(stat) {
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function workerTime() {
	const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
	let sum = 0;
	for (const { id } of processInfo.filter(one => one.type === 'renderer'))
		for (const thread of readdirSync(`/proc/${id}/task`)) {
			const stat = readFileSync(`/proc/${id}/task/${thread}/stat`, 'latin1');
			sum += stat.includes('DedicatedWorker') ? threadTime(stat) : 0;
		}
	return sum;
}

for await (const line of createInterface({ input: process.stdin })) {
	if (Number(line))
		await page.waitForFunction(count => window.weft.opened?.events >= count && window.weft.isIdle(), Number(line),
			{ timeout: 600000 });
	else
		await page.evaluate(command => window.weft.command(command), line);
	console.log(JSON.stringify(await page.evaluate(() => ({ refreshes: window.refreshes, memory: window.weft.opened.memory,
		events: window.weft.opened.events }))
		.then(async seen => ({ ...seen, ms: await workerTime() }))));
}
await browser.close();
