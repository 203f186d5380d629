// SPDX-License-Identifier: ISC
//
// Drives Chromium for browser.py: one browser for all requests, and a context of its own for each, which
// shares nothing with those before. It opens a page, does what a person does, and answers what can be seen.
// A request is a line of JSON, and so is the answer, which has every message on the console, error and request
// beyond the page itself.
//
//     echo '{"url": …, "width": …, "steps": [["wheel", x, y, dy], …]}' | node page.mjs
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';

const { chromium } = createRequire(process.env.WEFT_NPM + '/')('playwright-core');

// The same WebAssembly where a tab has less memory: the most pages that its memory section names.
function withLess(wasm, pages) {
	const number = at => {
		for (let value = 0, shift = 0; ; shift += 7) {
			value |= (wasm[at] & 127) << shift;
			if (wasm[at++] < 128)
				return [value, at];
		}
	};
	for (let at = 8; at < wasm.length;) {
		const [size, from] = number(at + 1);
		if (wasm[at] === 5) {
			const [, limits] = number(from), [, most] = number(limits + 1);
			[128 | pages, 128 | pages >> 7, pages >> 14].forEach((byte, i) => { wasm[most + i] = byte; });
			return wasm;
		}
		at = from + size;
	}
	throw new Error('no memory section');
}

async function drive(browser, ask) {
	const seen = { console: [], requests: [], results: [], downloads: [] };

	const context = await browser.newContext({
		viewport: { width: ask.width || 1000, height: ask.height || 600 },
		colorScheme: ask.scheme || 'light', deviceScaleFactor: ask.scale || 1, hasTouch: !!ask.touch, isMobile: !!ask.mobile,
		reducedMotion: 'reduce', permissions: ask.permissions || [], offline: !!ask.offline,
	});
	context.setDefaultTimeout(600000); // a busy machine may take as long as it needs: see waiting.py
	const page = await context.newPage();
	page.on('console', message => seen.console.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', error => seen.console.push('error: ' + error.message));
	page.on('request', request => seen.requests.push(request.url()));
	page.on('download', async download => seen.downloads.push(
		[download.suggestedFilename(), readFileSync(await download.path(), 'latin1')]));

	if (ask.pages)
		await page.route('**/weft.wasm', async route => {
			const response = await route.fetch();
			await route.fulfill({ response, body: withLess(Buffer.from(await response.body()), ask.pages) });
		});

	// Until the worker has answered all input, and drawing has come to rest.
	async function settle() {
		await page.waitForFunction(() => window.weft.isIdle());
		await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
		await page.waitForFunction(() => window.weft.isIdle());
	}

	const touches = new Map(), children = [];
	let protocol;

	async function touch(kind, fingers) {
		protocol = protocol || await context.newCDPSession(page);
		fingers.forEach(([id, x, y]) => touches.set(id, { id, x, y }));
		const touchPoints = kind === 'touchEnd' ? [] : Array.from(touches.values());
		await protocol.send('Input.dispatchTouchEvent', { type: kind, touchPoints });
		if (kind === 'touchEnd')
			touches.clear();
	}

	// A finger on what begins with these words, be it drawn or the browser's, once it is there.
	async function tap(words) {
		const where = await page.waitForFunction(words => {
			const found = Array.from(document.querySelectorAll('#controls > *, #panel button, #prompt button, #line'))
				.find(one => one.offsetParent && (one.getAttribute('aria-label') || one.textContent || one.id).startsWith(words));
			if (!found)
				return null;
			if (!found.closest('#controls'))
				found.scrollIntoView({ block: 'center' });
			const box = found.getBoundingClientRect();
			window.isTapped = false;
			addEventListener('pointerup', () => { window.isTapped = true; }, { capture: true, once: true });
			return [box.x + box.width / 2, box.y + box.height / 2];
		}, words);
		await page.touchscreen.tap(...await where.jsonValue());
		await page.waitForFunction(() => window.isTapped);
		await page.waitForTimeout(50);
	}

	const steps = {
		tap,
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
		burst: keys => page.evaluate(keys => keys.forEach(key => document.getElementById('canvas').dispatchEvent(
			new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))), keys), // in one moment
		press: name => page.getByRole('button', { name, exact: true }).or(page.locator('#traces button', { hasText: name })).click(),
		touch,
		command: command => page.evaluate(command => window.weft.command(command), command),
		reload: () => page.reload(),
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
		opened: title => page.waitForFunction(title => (!title || window.weft?.title === title) && window.weft?.opened, title),
		message: () => page.waitForFunction(() => !document.getElementById('notice').hidden || !document.getElementById('empty').hidden),
		// A trace that a program records into: the page is loaded again until the server lists it.
		async living(title) {
			for (let looks = 0; looks < 3000 && !await page.evaluate(title => window.weft?.title === title && window.weft.opened, title); looks++) {
				if (!await page.evaluate(title => window.weft?.title === title, title))
					await page.reload();
				await page.waitForTimeout(200);
			}
		},
		events: count => page.waitForFunction(count => window.weft.opened?.events >= count, count),
		async grow() {
			const before = await page.evaluate(() => window.weft.opened.events);
			await page.waitForFunction(before => window.weft.opened.events > before, before);
		},
		terminate: pid => process.kill(pid),
		copy: (from, to) => copyFileSync(from, to),
		write: (path, text) => appendFileSync(path, text),
		async restart(command) { // a server, until the end; the one before it may still have its port
			for (let isReady = false; !isReady;) {
				const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] });
				children.push(child);
				isReady = await new Promise(done => {
					child.stdout.once('data', () => done(true));
					child.once('exit', () => setTimeout(done, 200, false));
				});
			}
		},
		visit: url => page.goto(url),
		follow: name => page.getByRole('link', { name }).click(),
		shows: text => page.waitForFunction(text => window.weft.text().includes(text), text),
		says: (id, text) => page.waitForFunction(([id, text]) => {
			const element = document.getElementById(id);
			return !element.hidden && element.textContent.includes(text);
		}, [id, text]),
		noticed: () => page.waitForFunction(() => !document.getElementById('notice').hidden),
		linked: () => page.waitForFunction(() => window.weft.isIdle() && location.hash.includes(window.weft.link.replaceAll(' ', '&'))),
		screenshot: path => page.screenshot({ path }),
		shot: async path => page.locator('#canvas').screenshot({ path }),
		look: async () => seen.results.push(await page.evaluate(() => ({
			title: document.title, hash: location.hash, opened: window.weft.opened, size: window.weft.size,
			operations: window.weft.frames.at(-1)?.[2], frames: window.weft.frames.length, text: window.weft.text(),
			ratio: devicePixelRatio, canvas: [document.getElementById('canvas').width, document.getElementById('canvas').height],
			traces: document.getElementById('traces').innerText, buttons: document.getElementById('stage').innerText,
			status: document.getElementById('status').textContent, notice: document.getElementById('notice-text').textContent,
			empty: document.getElementById('empty').hidden ? null : document.getElementById('empty-text').textContent,
			focus: document.activeElement.id, background: getComputedStyle(document.body).backgroundColor,
			cursor: document.getElementById('canvas').style.cursor,
			panel: document.getElementById('panel').hidden ? null : document.getElementById('panel').innerText,
			prompt: document.getElementById('prompt').hidden ? null : document.getElementById('prompt-label').textContent,
			message: document.getElementById('message').textContent,
			clipboard: window.weft.copied, overflow: document.documentElement.scrollWidth > innerWidth,
		}))),
		evaluate: async code => seen.results.push(await page.evaluate(code)),
	};

	// The canvas beside a PNG of the same size, without text and what lies below the picture: how many
	// pixels differ by more than the smoothing of edges explains.
	async function compare(reference) {
		return page.evaluate(async reference => {
			const canvas = document.getElementById('canvas'), image = new Image();
			image.src = 'data:image/png;base64,' + reference;
			await image.decode();
			const other = new OffscreenCanvas(image.width, image.height).getContext('2d');
			other.drawImage(image, 0, 0);
			const { width, height } = canvas, mask = new Uint8Array(width * height);
			for (const [x, y, x2, y2] of window.weft.letters())
				for (let row = Math.max(0, Math.floor(y) - 4); row < Math.min(height, y2 + 4); row++)
					mask.fill(1, row * width + Math.max(0, Math.floor(x) - 16), row * width + Math.min(width, Math.ceil(x2) + 24));
			const ours = canvas.getContext('2d').getImageData(0, 0, width, height).data;
			const theirs = other.getImageData(0, 0, width, height).data;
			const seen = { compared: 0, different: 0, drawn: 0, size: [image.width - width, image.height - height], rows: {} };
			const far = (at, data, from) => [0, 1, 2].some(i => Math.abs(ours[4 * at + i] - data[4 * from + i]) > 90);
			for (let at = 110 * width; at < (height - 32) * width; at++) {
				if (mask[at])
					continue;
				seen.compared++;
				seen.drawn += far(at, ours, 110 * width + 1) ? 1 : 0;
				if (far(at, theirs, at) && far(at, theirs, at - 1) && far(at, theirs, at + 1) &&
					far(at, theirs, at - width) && far(at, theirs, at + width)) {
					seen.different++;
					seen.rows[Math.floor(at / width)] = (seen.rows[Math.floor(at / width)] || 0) + 1;
				}
			}
			return seen;
		}, reference);
	}
	steps.compare = async reference => seen.results.push(await compare(reference));

	const quiet = ['copy', 'write', 'restart', 'visit', 'follow', 'wait', 'message', 'living', 'events', 'grow', 'terminate', 'noticed', 'shows', 'says', 'look', 'evaluate', 'screenshot', 'shot', 'down'];
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
	await context.close();
	children.forEach(child => child.kill());
	return seen;
}

let browser;
for await (const line of createInterface({ input: process.stdin })) {
	const ask = JSON.parse(line);
	browser ??= await chromium.launch({ executablePath: ask.chromium, args: ['--no-sandbox'] });
	console.log(JSON.stringify(await drive(browser, ask)));
}
await browser?.close();
