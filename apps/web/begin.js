// SPDX-License-Identifier: ISC
//
// Size, theme, and start-up: the last of the files.

function resize() {
	const box = stage.getBoundingClientRect();
	input('resize', Math.max(box.width, 1), Math.max(box.height, 1), now());
}

// Makes room for an on-screen keyboard if it covers the page without resizing it.
if (window.visualViewport)
	visualViewport.addEventListener('resize', () => {
		if (visualViewport.scale !== 1)
			return;
		document.body.style.height = visualViewport.height + 'px';
		scrollTo(0, 0);
	});

function watchPixels() { // after a change of screen or zoom
	matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
		draw();
		watchPixels();
	}, { once: true });
}

const dark = matchMedia('(prefers-color-scheme: dark)');

function firstTheme() {
	return stored('weft theme') || givenTheme || options.theme || (dark.matches ? 'dark' : 'light');
}

dark.addEventListener('change', () => {
	if (!options.theme && !givenTheme && !stored('weft theme'))
		input('command', 'theme ' + (dark.matches ? 'dark' : 'light'), now());
});

// Five characters are four bytes: see packed() in assets.py. 'u' fills the last five up.
function decodeDense(text) {
	const groups = Math.ceil(text.length / 5), view = new DataView(new ArrayBuffer(groups * 4));
	const full = text.padEnd(groups * 5, 'u');
	for (let group = 0, at = 0; group < groups; group++) {
		let value = 0;
		for (const end = at + 5; at < end; at++)
			value = value * 85 + (full[at] === 'v' ? '<' : full[at]).charCodeAt() - 33;
		view.setUint32(group * 4, value);
	}
	return new Uint8Array(view.buffer, 0, Math.floor(text.length * 4 / 5));
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Response(stream).arrayBuffer();
}

async function begin() {
	let bytes;
	if (element('wasm')) {
		const [source, module] = await Promise.all(['worker', 'wasm'].map(id => inflate(decodeDense(element(id).textContent))));
		worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
		bytes = module;
	} else {
		worker = new Worker('worker.js');
		bytes = await (await fetch('weft.wasm')).arrayBuffer();
	}
	worker.onmessage = listen;
	worker.onerror = event => answers.broken(event.message || 'the worker could not start');
	worker.postMessage(['start', {
		wasm: bytes, theme: Math.max(THEMES.indexOf(firstTheme()), 0),
		reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches,
		isTouched: matchMedia('(pointer: coarse)').matches, hasWasd: stored('weft wasd') === 'on', hasList: isServed,
		origin: performance.timeOrigin,
	}], [bytes]);
}

// For tests and benchmarks: what was drawn, and whether all work is done.
window.weft = {
	frames: [], opened: null, get title() { return source.title; }, get size() { return canvasSize; },
	isIdle: () => isReady && !isBusy && !isAsked && !batch.length,
	draw, command: text => input('command', text, now()),
	letters: lettersOf, text: () => lettersOf().map(letters => letters[4]).join('\n'),
};
new ResizeObserver(resize).observe(stage);
watchPixels();
watch();
canvas.focus({ preventScroll: true });
begin().catch(error => notice(`The page cannot start here: ${error.message}. ` +
	'It needs a browser with WebAssembly and DecompressionStream (any of 2023 or later).'));
