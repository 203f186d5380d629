// SPDX-License-Identifier: ISC
//
// Carries out the viewer's requests to the browser.

function stored(name, value) {
	try { // browsers refuse it in private windows, and where cookies are blocked blocked
		if (value !== undefined)
			localStorage.setItem(name, value);
		return localStorage.getItem(name) || '';
	} catch {
		return '';
	}
}

function download(blob, name) {
	const anchor = document.createElement('a');
	anchor.href = URL.createObjectURL(blob);
	anchor.download = name;
	anchor.click();
	setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}

async function copyText(text) {
	window.weft.copied = text;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		notice('This browser does not let the page copy. Copy it from here: ' + text);
	}
}

const requests = {
	copy(request) {
		copyText(request.text.startsWith('view ') ? home.location.href.split('#')[0] + linkOf(request.text) : request.text);
	},
	notes(request) { stored('weft notes ' + source.title, request.text); },
	svg(request) { download(new Blob([request.bytes], { type: 'image/svg+xml' }), request.text); },
	png(request) { canvas.toBlob(blob => download(blob, request.text)); },
	cut(request) {
		const { files, deflated, title, hz } = source;
		if (files.length > 1)
			return notice('Cannot save a part of several files: weft cut can.');
		taken = 0;
		worker.postMessage(['cut', { files, deflated, title, hz }, request.start, request.end, request.text]);
	},
	open() {
		if (isServed)
			listTraces('');
		else
			element('file').click();
	},
	read(request) { open({ ...source, again: true, range: [request.start, request.end] }); },
	reload() { open({ ...source, again: true }); },
	follow(request) {
		isPaused = request.start !== 1n;
		worker.postMessage(['follow', !isPaused]);
	},
	window() { window.open(location.href); },
	theme(request) {
		if (request.start === 1n) // the user chose it
			stored('weft theme', request.text);
	},
	wasd(request) { stored('weft wasd', request.start === 1n ? 'on' : ''); },
};
