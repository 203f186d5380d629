// SPDX-License-Identifier: ISC
//
// Drives Chromium for page.py: opens a page, does what a person does, answers what can be seen as
// one line of JSON. Every message on the console, error and request beyond the page itself is noted.
//
//     node page.mjs '{"url": …, "width": …, "steps": [["wheel", x, y, dy], …]}'
import { createRequire } from 'node:module';

const { chromium } = createRequire(process.env.WEFT_NPM + '/')('playwright-core');
const ask = JSON.parse(process.argv[2]);
const seen = { console: [], requests: [], results: [], downloads: [] };

const browser = await chromium.launch({ executablePath: ask.chromium, args: ['--no-sandbox'] });
const context = await browser.newContext({
	viewport: { width: ask.width || 1000, height: ask.height || 600 },
	colorScheme: ask.scheme || 'light', deviceScaleFactor: ask.scale || 1, hasTouch: !!ask.touch,
	reducedMotion: 'reduce', permissions: ask.permissions || [], offline: !!ask.offline,
});
const page = await context.newPage();
page.on('console', message => seen.console.push(`${message.type()}: ${message.text()}`));
page.on('pageerror', error => seen.console.push('error: ' + error.message));
page.on('request', request => seen.requests.push(request.url()));
page.on('download', async download => seen.downloads.push(
	[download.suggestedFilename(), await (await import('node:fs/promises')).readFile(await download.path(), 'latin1')]));

// Until the worker has answered all input, and drawing has come to rest.
async function settle() {
	await page.waitForFunction(() => window.weft.isIdle());
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	await page.waitForFunction(() => window.weft.isIdle());
}

const touches = new Map();
let protocol;

async function touch(kind, fingers) {
	protocol = protocol || await context.newCDPSession(page);
	fingers.forEach(([id, x, y]) => touches.set(id, { id, x, y }));
	const touchPoints = kind === 'touchEnd' ? [] : Array.from(touches.values());
	await protocol.send('Input.dispatchTouchEvent', { type: kind, touchPoints });
	if (kind === 'touchEnd')
		touches.clear();
}

const steps = {
	move: (x, y) => page.mouse.move(x, y),
	down: () => page.mouse.down(),
	up: () => page.mouse.up(),
	click: (x, y) => page.mouse.click(x, y),
	doubleclick: (x, y) => page.mouse.dblclick(x, y),
	async wheel(x, y, dy, dx = 0) {
		await page.mouse.move(x, y);
		await page.mouse.wheel(dx, dy);
	},
	async drag(x, y, x2, y2) {
		await page.mouse.move(x, y);
		await page.mouse.down();
		await page.mouse.move(x2, y2, { steps: 8 });
		await page.mouse.up();
	},
	key: key => page.keyboard.press(key),
	type: text => page.keyboard.type(text),
	press: name => page.getByRole('button', { name, exact: true }).click(),
	touch,
	resize: (width, height) => page.setViewportSize({ width, height }),
	scheme: colorScheme => page.emulateMedia({ colorScheme }),
	wait: ms => page.waitForTimeout(ms),
	choose: path => page.locator('#file').setInputFiles(path),
	async drop(name, base64) {
		const transfer = await page.evaluateHandle(([name, base64]) => {
			const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
			const transfer = new DataTransfer();
			transfer.items.add(new File([bytes], name));
			return transfer;
		}, [name, base64]);
		await page.dispatchEvent('#canvas', 'drop', { dataTransfer: transfer });
	},
	opened: title => page.waitForFunction(title => window.weft.title === title && window.weft.opened, title),
	said: () => page.waitForFunction(() => !document.getElementById('notice').hidden),
	screenshot: path => page.screenshot({ path }),
	shot: async path => page.locator('#canvas').screenshot({ path }),
	look: async () => seen.results.push(await page.evaluate(() => ({
		title: document.title, hash: location.hash, opened: window.weft.opened, size: window.weft.size,
		operations: window.weft.frames.at(-1)?.[2], frames: window.weft.frames.length, text: window.weft.text(),
		ratio: devicePixelRatio, canvas: [document.getElementById('canvas').width, document.getElementById('canvas').height],
		status: document.getElementById('status').textContent, notice: document.getElementById('notice-text').textContent,
		focus: document.activeElement.id, background: getComputedStyle(document.body).backgroundColor,
		cursor: document.getElementById('canvas').style.cursor,
		panel: document.getElementById('panel').hidden ? null : document.getElementById('panel').innerText,
		prompt: document.getElementById('prompt').hidden ? null : document.getElementById('prompt-label').textContent,
		message: document.getElementById('message').textContent,
		clipboard: window.weft.copied, overflow: document.documentElement.scrollWidth > innerWidth,
	}))),
	evaluate: async code => seen.results.push(await page.evaluate(code)),
};

const quiet = ['wait', 'look', 'evaluate', 'screenshot', 'shot', 'down'];
try {
	await page.goto(ask.url);
	for (const [kind, ...fields] of [...(ask.first || [['opened', ask.title]]), ...ask.steps]) {
		await steps[kind](...fields);
		if (!quiet.includes(kind))
			await settle();
	}
} catch (error) {
	seen.failed = error.stack;
}
await browser.close();
console.log(JSON.stringify(seen));
