// SPDX-License-Identifier: ISC
//
// A page with several views of its trace (weft render --view): each is a frame with the page's own elements, style and
// script, and `data-view` says what it shows. Code and trace are in the page once; a frame takes them from there.

const frame = window.frameElement && frameElement.classList.contains('weft-view') ? frameElement : null;
const home = frame ? parent.document : document;
const options = JSON.parse(home.getElementById('options').textContent);

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Response(stream).arrayBuffer();
}

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

// The worker's script, and the engine as a module that is compiled.
async function unpackEngine() {
	const [source, bytes] = await Promise.all(['worker', 'wasm'].map(id => inflate(decodeDense(document.getElementById(id).textContent))));
	return [URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), await WebAssembly.compile(bytes)];
}

function fillFrames(page) {
	const frames = Array.from(document.querySelectorAll('iframe.weft-view'));
	for (const one of frames)
		one.srcdoc = page;
	window.weft.isIdle = () => frames.every(one => one.contentWindow.weft?.opened && one.contentWindow.weft.isIdle());
}

// The page itself has no viewer then, and whatever its author writes around the frames.
function showViews() {
	if (frame || !options.views)
		return false;
	const elements = Array.from(document.querySelectorAll('style, #stage, #status'));
	const script = document.currentScript.textContent;
	const page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8">' + elements.map(one => one.outerHTML).join('') +
		'<script>' + script + '<\/script></html>';
	elements.slice(1).forEach(one => one.remove());
	document.documentElement.classList.add('has-views');
	window.weft = { engine: unpackEngine(), isIdle: () => false };
	addEventListener('DOMContentLoaded', () => fillFrames(page));
	return true;
}
