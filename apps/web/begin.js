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

async function begin() {
	let engine;
	if (isServed)
		engine = ['worker.js', await WebAssembly.compile(await (await fetch('weft.wasm')).arrayBuffer())];
	else
		engine = await (frame ? parent.weft.engine : unpackEngine());
	worker = new Worker(engine[0]);
	worker.onmessage = listen;
	worker.onerror = event => answers.broken(event.message || 'the worker could not start');
	worker.postMessage(['start', {
		wasm: engine[1], theme: Math.max(THEMES.indexOf(firstTheme()), 0),
		reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches,
		isTouched: matchMedia('(pointer: coarse)').matches, hasWasd: stored('weft wasd') === 'on', hasList: isServed,
		origin: performance.timeOrigin,
	}]);
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
if (!frame)
	canvas.focus({ preventScroll: true });
begin().catch(error => notice(`The page cannot start here: ${error.message}. ` +
	'It needs a browser with WebAssembly and DecompressionStream (any of 2023 or later).'));
