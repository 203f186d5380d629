// SPDX-License-Identifier: ISC
//
// The worker, in which all decisions are made, by WebAssembly. It gets the bytes of a trace and batches of
// input, and answers each batch with what has changed, above all the list of operations that the page
// replays. It reads a trace in slices, so that it responds to input meanwhile.
'use strict';

const SLICE_MS = 12;       // of reading, before input is handled
const STEP_EVENTS = 16384;
const REHEARSAL_EVENTS = 1 << 18;
const { OK, END, AGAIN, EM } = BORDER;
const { ERROR_LIMIT: LIMIT, ERROR_MEMORY: MEMORY, ERROR_FORMAT: FORMAT, ERROR_EMPTY: EMPTY, ERROR_DAMAGED: DAMAGED,
	ERROR_ARGUMENT: ARGUMENT } = BORDER;
const FONT = 'system-ui, "DejaVu Sans", sans-serif'; // as in elements.js

let wasm, memory, ahead = 0, opened = 0, size = [1, 1], motion = 0, touched = 0, theme = 0, wasd = 0, listed = 0;
const encoder = new TextEncoder(), decoder = new TextDecoder();

// ---- Imports of the WebAssembly module ----

const widths = new Map();
const pen = new OffscreenCanvas(1, 1).getContext('2d');

function width(text, bold) {
	pen.font = (bold ? 'bold ' : '') + EM + 'px ' + FONT;
	pen.fontKerning = 'none';
	pen.textRendering = 'geometricPrecision';
	return pen.measureText(text).width;
}

function measure(at, bytes, bold) {
	const text = decoder.decode(new Uint8Array(memory.buffer, at >>> 0, bytes));
	const key = bold ? 'b' + text : 'p' + text;
	let known = widths.get(key);
	if (known === undefined) {
		if (widths.size > 50000)
			widths.clear();
		widths.set(key, known = width(text, bold));
	}
	return known;
}

function fillAdvances() {
	const table = new Float32Array(memory.buffer, wasm.page_advances(), 256);
	for (let letter = 32; letter < 127; letter++)
		for (const bold of [0, 1])
			table[bold * 128 + letter] = width(String.fromCharCode(letter), bold);
}

// WebAssembly returns addresses above 2 GB as negative numbers.
const ADDRESSES = ['advances', 'boxes', 'colors', 'controls', 'cut_bytes', 'cut_room', 'draw', 'error_text', 'follow_room', 'follow_sentence', 'link',
	'load_damage', 'load_hosts', 'load_left_out', 'load_room', 'panel', 'part_density', 'prompt', 'request', 'status', 'svg', 'text_room'].map(name => 'page_' + name);

async function start(module) {
	const missing = () => 8; // EBADF: there are no files
	const instance = await WebAssembly.instantiate(module, {
		page: { measure },
		wasi_snapshot_preview1: { fd_close: missing, fd_seek: missing, fd_write: missing },
	});
	wasm = { ...instance.exports };
	memory = wasm.memory;
	for (const name of ADDRESSES)
		wasm[name] = (...fields) => instance.exports[name](...fields) >>> 0;
	wasm._initialize();
	// The hash tables get a random key, so that a hostile trace cannot choose ids and texts that collide.
	wasm.page_seed(...crypto.getRandomValues(new Uint32Array(4)));
	fillAdvances();
}

// ---- Text and structs to and from WebAssembly ----

const byteAt = at => new DataView(memory.buffer).getUint8(at);
const wordAt = at => new DataView(memory.buffer).getUint32(at, true);

function give(text) {
	const bytes = encoder.encode(text);
	const at = wasm.page_text_room(bytes.length);
	if (!at)
		throw new Error(words(MEMORY));
	new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
}

function take(at) {
	const bytes = new Uint8Array(memory.buffer);
	return at ? decoder.decode(bytes.subarray(at, bytes.indexOf(0, at))) : '';
}

function copy(at, bytes) {
	return memory.buffer.slice(at, at + bytes);
}

function words(error) {
	return take(wasm.page_error_text(error));
}

function css(color) {
	return '#' + (color >>> 0).toString(16).padStart(8, '0');
}

// ---- Output: what has changed ----

const { CHANGED_CANVAS: CANVAS, CHANGED_PANEL: PANEL, CHANGED_PROMPT: PROMPT, CHANGED_STATUS: STATUS, CHANGED_CURSOR: CURSOR,
	CHANGED_BOXES: BOXES, CHANGED_REQUEST: REQUEST, CHANGED_CONTROLS: CONTROLS } = BORDER;
const ITEMS = named('ITEM_', {
	HEADING: 'heading', TEXT: 'text', FACT: 'fact', LINK: 'link', TOGGLE: 'toggle', BUTTON: 'button',
});
const CURSORS = named('CURSOR_', {
	DEFAULT: 'default', POINTER: 'pointer', GRABBING: 'grabbing', RESIZE: 'ew-resize', CROSSHAIR: 'crosshair',
	RESIZE_ROWS: 'ns-resize',
});
const REQUESTS = named('REQUEST_', {
	COPY: 'copy', SAVE_NOTES: 'notes', SAVE_SVG: 'svg', SAVE_PNG: 'png', SAVE_CUT: 'cut', OPEN: 'open', RELOAD: 'reload',
	FOLLOW: 'follow', READ: 'read', NEW_WINDOW: 'window', THEME: 'theme', WASD: 'wasd',
});

function takeCanvas(answer, transfer) {
	const at = wasm.page_draw();
	if (!at)
		throw new Error(words(MEMORY));
	const [ops, opBytes, points, pointBytes, text, textBytes] = new Uint32Array(memory.buffer, at, 6);
	answer.list = { ops: copy(ops, opBytes), points: copy(points, pointBytes), text: copy(text, textBytes) };
	transfer.push(answer.list.ops, answer.list.points, answer.list.text);
	const colors = new Uint32Array(memory.buffer, wasm.page_colors(), BORDER.COLORS);
	answer.colors = Array.from(colors, css);
}

function takeItem(at) {
	const role = byteAt(at + BORDER.ITEM_role);
	return {
		type: ITEMS[byteAt(at + BORDER.ITEM_type)], selected: !!byteAt(at + BORDER.ITEM_is_selected),
		text: take(wordAt(at + BORDER.ITEM_text)), detail: take(wordAt(at + BORDER.ITEM_detail)),
		command: take(wordAt(at + BORDER.ITEM_command)), color: role === BORDER.ROLE_NONE ? '' : css(wasm.page_role_color(role)),
	};
}

function takePanel() {
	const at = wasm.page_panel(), items = wordAt(at + BORDER.PANEL_items), selected = wordAt(at + BORDER.PANEL_selected);
	return {
		title: take(wordAt(at + BORDER.PANEL_title)),
		items: Array.from({ length: wordAt(at + BORDER.PANEL_item_count) }, (_, i) => takeItem(items + i * BORDER.ITEM_BYTES)),
		selected: selected === BORDER.NONE ? -1 : selected,
	};
}

function takeControl(at) {
	return {
		box: Array.from(new Float64Array(memory.buffer, at + BORDER.CONTROL_box, BORDER.BOX_DOUBLES)),
		name: take(wordAt(at + BORDER.CONTROL_name)), value: take(wordAt(at + BORDER.CONTROL_value)),
		command: take(wordAt(at + BORDER.CONTROL_command)),
		isHandle: byteAt(at + BORDER.CONTROL_type) === BORDER.CONTROL_HANDLE,
		isOn: !!byteAt(at + BORDER.CONTROL_is_on), isOff: !!byteAt(at + BORDER.CONTROL_is_off),
	};
}

function takeControls() {
	const [first, length] = new Uint32Array(memory.buffer, wasm.page_controls(), 2);
	return Array.from({ length }, (_, i) => takeControl(first + i * BORDER.CONTROL_BYTES));
}

function takePrompt() {
	const at = wasm.page_prompt();
	return {
		open: !!byteAt(at + BORDER.PROMPT_is_open), label: take(wordAt(at + BORDER.PROMPT_label)),
		text: take(wordAt(at + BORDER.PROMPT_text)), message: take(wordAt(at + BORDER.PROMPT_message)),
		error: !!byteAt(at + BORDER.PROMPT_is_error),
	};
}

function takeRequest(at) {
	const view = new DataView(memory.buffer);
	return {
		type: REQUESTS[byteAt(at + BORDER.REQUEST_type)], text: take(wordAt(at + BORDER.REQUEST_text)),
		start: view.getBigUint64(at + BORDER.REQUEST_start, true), end: view.getBigUint64(at + BORDER.REQUEST_end, true),
	};
}

function takeRequests() {
	const list = [];
	for (let at; (at = wasm.page_request());) {
		const request = takeRequest(at);
		if (request.type === 'theme') {
			give(request.text);
			theme = wasm.page_theme();
		}
		if (request.type === 'wasd')
			wasd = Number(request.start);
		if (request.type === 'svg')
			request.bytes = takeSvg(request.text);
		list.push(request);
	}
	return list;
}

function takeSvg(title) {
	give(title);
	const at = wasm.page_svg();
	if (!at)
		throw new Error(words(MEMORY));
	const [bytes, count] = new Uint32Array(memory.buffer, at, 2);
	return copy(bytes, count);
}

// ---- Input ----

let typed = [];

const inputs = {
	resize(width, height, now) {
		size = [width, height];
		wasm.page_resize(width, height, now);
	},
	pointer(...fields) { wasm.page_pointer(...fields); },
	wheel(...fields) { wasm.page_wheel(...fields); },
	pinch(...fields) { wasm.page_pinch(...fields); },
	key(key, modifiers, now) {
		// A key that is typed before the page shows the prompt's line belongs into it.
		if (key !== 'Escape' && byteAt(wasm.page_prompt() + BORDER.PROMPT_is_open))
			return void typed.push(key);
		give(key);
		if (!wasm.page_key(modifiers, now))
			return key;
	},
	command(command, now) {
		give(command);
		wasm.page_command(now);
	},
	prompt(text, isDone, now) {
		give(text);
		wasm.page_prompt_text(isDone, now);
	},
};

function frame(batch, now) {
	const answer = { unused: [] }, transfer = [], begun = performance.now();
	typed = [];
	for (const [kind, ...fields] of batch) {
		const unused = inputs[kind](...fields);
		if (unused)
			answer.unused.push(unused);
	}
	answer.typed = typed;
	answer.wait = wasm.page_advance(now);
	const changes = wasm.page_changes();
	if (changes & BOXES)
		answer.boxes = Array.from(new Float64Array(memory.buffer, wasm.page_boxes(), 2 * BORDER.BOX_DOUBLES));
	if (changes & (CANVAS | BOXES))
		takeCanvas(answer, transfer);
	if (changes & PANEL)
		answer.panel = takePanel();
	if (changes & PROMPT)
		answer.prompt = takePrompt();
	if (changes & CONTROLS)
		answer.controls = takeControls();
	if (changes & STATUS)
		answer.status = take(wasm.page_status());
	if (changes & CURSOR)
		answer.cursor = CURSORS[wasm.page_cursor()];
	if (changes & REQUEST)
		answer.requests = takeRequests();
	if (changes & CANVAS)
		answer.link = take(wasm.page_link());
	answer.cost = performance.now() - begun;
	postMessage(['frame', answer], transfer);
}

// ---- A trace ----

// Gets the next slice of the trace inside the page, which the page passes one at a time.
let handOver;

function pulled() {
	return new ReadableStream({
		pull(controller) {
			return new Promise(resolve => {
				handOver = slice => {
					if (slice)
						controller.enqueue(slice);
					else
						controller.close();
					resolve();
				};
				postMessage(['more']);
			});
		},
	}, { highWaterMark: 1 });
}

function rest(first, reader) {
	return new ReadableStream({
		start(controller) {
			if (first)
				controller.enqueue(first);
		},
		async pull(controller) {
			const { value, done } = await reader.read();
			if (done)
				controller.close();
			else
				controller.enqueue(value);
		},
		cancel(reason) { return reader.cancel(reason); },
	});
}

const PACKED = [['gzip', [0x1f, 0x8b]], ['zstd', [0x28, 0xb5, 0x2f, 0xfd]]];
const { EXPANDED_BYTES, EXPANDED_RATIO } = BORDER;

function counted(stream, count) {
	return stream.pipeThrough(new TransformStream({
		transform(part, controller) {
			count(part.length);
			controller.enqueue(part);
		},
	}));
}

// Unpacks a file that is compressed as a whole, if the browser can. A few bytes can stand for any number of
// zeros: it stops before memory is allocated for them.
async function unpacked(stream) {
	const reader = stream.getReader();
	const { value } = await reader.read();
	const kind = value && PACKED.find(([, mark]) => mark.every((byte, i) => value[i] === byte));
	if (!kind)
		return [rest(value, reader), false];
	let left = EXPANDED_BYTES;
	const packed = counted(rest(value, reader), bytes => left += EXPANDED_RATIO * bytes);
	try {
		return [counted(packed.pipeThrough(new DecompressionStream(kind[0])), bytes => {
			if ((left -= bytes) < 0)
				throw new Error(`it holds more than ${EXPANDED_BYTES >> 20} MiB and ${EXPANDED_RATIO} times its own size: ` +
					`if that is right, \`${kind[0]} -d\` unpacks it`);
		}), true];
	} catch {
		throw new Error(`it is compressed by ${kind[0]}, which this browser cannot unpack: ` +
			`\`weft render FILE -o page.html\` makes a page of it, \`${kind[0]} -d\` unpacks it`);
	}
}

const wake = () => postMessage(['wake']);
const channel = new MessageChannel();
let resume;
channel.port1.onmessage = () => resume();
const others = () => new Promise(resolve => { // lets the event loop handle waiting messages
	resume = resolve;
	channel.port2.postMessage(0);
});

let isQuiet = false; // a trace that has grown is read without a word: the picture stays meanwhile

function showText(text, fraction) {
	if (isQuiet)
		return;
	give(text);
	wasm.page_show_text(fraction);
	wake();
}

function check(error) {
	if (error < 0)
		throw Object.assign(new Error(words(error)), { code: error });
}

const BIG = 'The trace is larger than a browser tab can hold (4 GB with everything that is made of it). ' +
	'`weft view` opens it, and `weft cut FILE -o PART --start T --duration T` makes a part of it that fits.';

function explain(error, title) {
	const code = error.code;
	if (code === LIMIT || code === MEMORY || error instanceof RangeError)
		return BIG;
	if (code === FORMAT)
		return `${title} is not a trace that this page can read: weft's own format, Chrome's, OCaml's, Xen's, Mirage's CTF or sexp.`;
	if (code === EMPTY)
		return `${title} is empty: it has no bytes.`;
	if (code === DAMAGED)
		return `${title} has no intact event.`;
	if (code === ARGUMENT)
		return leftOut().slice(0, 4).join('\n');
	return `${title} could not be read: ${error.message}.`;
}

const megabytes = bytes => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0) + ' MB';

// Writes a file's bytes into memory; false if another trace was opened meanwhile.
async function receive(file, isDeflated, number) {
	const [stream, total] = await bytesOf(file, isDeflated), reader = stream.getReader();
	let received = 0, shownAt = performance.now();
	give(file.name);
	check(wasm.page_load_file(total));
	for (;;) {
		const { value, done } = await reader.read();
		if (number !== opened) {
			reader.cancel();
			return false;
		}
		if (done)
			return true;
		const at = wasm.page_load_room(value.length);
		if (!at)
			check(MEMORY);
		new Uint8Array(memory.buffer, at, value.length).set(value);
		wasm.page_load_more(value.length);
		received += value.length;
		if (performance.now() - shownAt > 100) {
			shownAt = performance.now();
			showText(`Reading ${file.name}: ${megabytes(received)}${total ? ' of ' + megabytes(total) : ''} …`,
				total ? received / total : -1);
		}
	}
}

let stopped = false, isRehearsed = false;

// Warms up the code once, as soon as there are some events, if many more will come.
function rehearse() {
	isRehearsed = wasm.page_load_events() >= REHEARSAL_EVENTS;
	if (isRehearsed && wasm.page_load_fraction() < 0.1)
		wasm.page_load_rehearse(); // an error will occur again with the whole trace
}

async function build(source, number) {
	check(wasm.page_load_open(source.mustFit ? 1 : 0, source.noAlign ? 1 : 0, source.hz || 0));
	let status = AGAIN, shownAt = performance.now();
	while (status === AGAIN && !stopped) {
		const until = performance.now() + SLICE_MS;
		while (status === AGAIN && performance.now() < until)
			status = wasm.page_load_step(STEP_EVENTS);
		check(status);
		if (!isRehearsed)
			rehearse();
		if (performance.now() - shownAt > 100) {
			shownAt = performance.now();
			showText(`${wasm.page_load_events().toLocaleString('en')} events …`, wasm.page_load_fraction());
			if (!isQuiet)
				postMessage(['loading']);
		}
		await others();
		if (number !== opened)
			return false;
	}
	return true;
}

const lines = at => take(at).split('\n').filter(Boolean);
const leftOut = () => lines(wasm.page_load_left_out());

let isShown = false;

// Shows a model. A new trace gets a new viewer; a trace that is read again keeps its viewer. `showModel` passes
// the model to the viewer.
function show(source, now, showModel) {
	if (!source.again) {
		give(source.title);
		check(wasm.page_create(theme, motion, touched, wasd, listed));
		isShown = false;
		wasm.page_resize(...size, now);
	} else {
		give(source.title);
		check(wasm.page_set_title());
	}
	check(showModel());
	isShown = true;
	if (!source.again) {
		give(source.notes);
		wasm.page_load_notes();
		give(source.view);
		if (source.view)
			wasm.page_command(now);
	}
	showText('', -1);
	wake();
}

async function fetched(url) {
	const response = await fetch(url);
	if (response.status === 403)
		throw new Error('this page has no valid token. If weft serve was started again, open the address that it printed');
	if (!response.ok)
		throw new Error((await response.text()).trim() || response.statusText);
	return response.body;
}

// Files that are parts of a trace that may grow are kept by the browser, so that only those are fetched again that have
// changed.
const kept = new Map();

async function keptBlob(file) {
	const known = kept.get(file.url);
	if (known && known.version === file.version)
		return known.blob;
	const blob = await new Response(await fetched(file.url)).blob();
	kept.set(file.url, { version: file.version, blob });
	return blob;
}

async function streamOf(file) {
	if (file.blob || file.version)
		return (file.blob || await keptBlob(file)).stream();
	return file.url ? fetched(file.url) : pulled();
}

// A stream of a file's bytes, unpacked, and their number; 0: unknown.
async function bytesOf(file, isDeflated) {
	const stream = await streamOf(file);
	if (isDeflated)
		return [stream.pipeThrough(new DecompressionStream('deflate-raw')), file.size];
	const [plain, isPacked] = await unpacked(stream);
	return [plain, isPacked ? 0 : file.size];
}

// ---- A trace that is too large ----

// Where its bytes are, as the server says.
async function takeDensity(source) {
	const text = await new Response(await fetched(`api/density/${source.files[0].id}`)).text();
	const at = wasm.page_part_density(), view = new DataView(memory.buffer);
	// The times may have more digits than a number holds.
	for (const [name, offset] of [['start', BORDER.DENSITY_start_ns], ['end', BORDER.DENSITY_end_ns]])
		view.setBigUint64(at + offset, BigInt(text.match(`"${name}":(\\d+)`)[1]), true);
	new Float64Array(memory.buffer, at + BORDER.DENSITY_bytes, BORDER.DENSITY_COLUMNS).set(JSON.parse(text).bytes);
}

// Chooses the part to read, and where it comes from. False if another trace was opened meanwhile.
async function choosePart(source, number) {
	wasm.page_part_drop();
	if (!source.partBytes)
		return true;
	if (!source.range)
		await takeDensity(source);
	if (number !== opened)
		return false;
	if (source.range)
		wasm.page_part_choose(...source.range);
	else
		wasm.page_part_begin(source.partBytes);
	const [start, end] = [wasm.page_part_start(), wasm.page_part_end()].map(time => BigInt.asUintN(64, time));
	source.files = [{ ...source.files[0], url: `api/part/${source.files[0].id}?start=${start}&end=${end}`, size: 0 }];
	return true;
}

const showLoaded = source => wasm.page_load_show(source.isLive ? 1 : 0) ||
	(source.partBytes && !source.again ? wasm.page_part_show(source.partBytes) : 0);

async function load(source, now, number) {
	const begun = performance.now();
	wasm.page_follow_drop();
	wasm.page_load_drop();
	if (!await choosePart(source, number))
		return;
	for (const file of source.files)
		if (!await receive(file, source.deflated, number))
			return;
	if (!await build(source, number))
		return;
	const events = wasm.page_load_events(), damage = lines(wasm.page_load_damage()), missing = leftOut(),
		hosts = lines(wasm.page_load_hosts());
	showText(`Laying out ${events.toLocaleString('en')} events …`, -1);
	await others();
	check(wasm.page_load_finish());
	show(source, now, () => showLoaded(source));
	postMessage(['opened', { events, damage, missing, hosts, stopped, live: !!source.isLive, ms: performance.now() - begun, memory: memory.buffer.byteLength }]);
}

// ---- Following a growing trace ----

const QUEUE_BYTES = 16 << 20; // limit for unread bytes; beyond it the server has to wait
let stir = () => {};

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

// Reads bytes into a queue of limited size.
function gather(stream) {
	const feed = { queue: [], bytes: 0, ended: false, error: null, reader: stream.getReader(), resume: () => {} };
	(async () => {
		try {
			for (let part; !(part = await feed.reader.read()).done;) {
				feed.queue.push(part.value);
				feed.bytes += part.value.length;
				stir();
				if (feed.bytes > QUEUE_BYTES)
					await new Promise(resolve => { feed.resume = resolve; });
			}
		} catch (error) {
			feed.error = error;
		}
		feed.ended = true;
		stir();
	})();
	return feed;
}

// Writes bytes into memory, and calls `take` with their number.
function giveBytes(bytes, take) {
	const at = wasm.page_follow_room(bytes.length);
	if (!at)
		check(MEMORY);
	new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
	check(take(bytes.length));
}

// Feeds the decoder. False when the queue is empty and no more bytes will come.
function feedDecoder(feed, take) {
	const isWhole = feed.ended && !feed.queue.length;
	for (const slice of feed.queue.splice(0))
		giveBytes(slice, take);
	feed.bytes = 0;
	feed.resume();
	return !isWhole;
}

// Decodes new bytes in slices. Returns END, AGAIN, or OK if a picture is due before all is decoded.
async function readNew(number) {
	for (;;) {
		const until = performance.now() + SLICE_MS;
		let status = OK;
		while (status === OK && performance.now() < until)
			status = wasm.page_follow_read(STEP_EVENTS);
		check(status);
		await others();
		if (status !== OK || number !== opened || isDue())
			return status;
	}
}

// The present on the page's clock, which the viewer gets with all input.
const pageNow = () => performance.now() + ahead;

const isDue = () => wasm.page_follow_wait(performance.now()) === 0;

function refresh(source, now, isLive) {
	const begun = performance.now();
	check(wasm.page_follow_model());
	show(source, now, () => wasm.page_follow_show(isLive ? 1 : 0));
	source.again = true;
	const ended = performance.now();
	wasm.page_follow_shown(ended, ended - begun);
	postMessage(['opened', { events: wasm.page_follow_events(), damage: [], missing: [], stopped: false, live: isLive, ms: ended - begun,
		memory: memory.buffer.byteLength }]);
}

// Waits for new bytes, or until a picture is due.
function nextNews(feed) {
	const wait = wasm.page_follow_wait(performance.now());
	const news = feed.queue.length || feed.ended ? Promise.resolve() : new Promise(resolve => { stir = resolve; });
	return wait === Infinity ? news : Promise.race([news, sleep(wait)]);
}

// Starts to follow a trace, of which a server sends the parts that grow. False if another trace was opened meanwhile.
async function beginParts(source, number) {
	wasm.page_load_drop();
	wasm.page_follow_drop();
	for (const file of source.files) {
		give(file.name);
		check(wasm.page_follow_add(source.hz || 0, file.isLive ? 1 : 0, file.isProgram ? 1 : 0));
	}
	check(wasm.page_follow_start(isQuiet ? 1 : 0));
	for (const [part, file] of source.files.entries()) {
		if (file.isLive)
			continue;
		const [stream] = await bytesOf(file), reader = stream.getReader();
		for (let piece; !(piece = await reader.read()).done;) {
			if (number !== opened)
				return void reader.cancel();
			giveBytes(piece.value, size => wasm.page_follow_more(part, size, performance.now()));
		}
		check(wasm.page_follow_finish(part));
	}
	return number === opened;
}

async function follow(source, now, number) {
	const stream = await fetched(source.live);
	if (!await beginParts(source, number))
		return void stream.cancel().catch(() => {});
	const feed = gather(stream);
	const feedParts = size => source.hasFrames ? wasm.page_follow_frames(size, performance.now()) :
		wasm.page_follow_more(0, size, performance.now());
	let status = AGAIN, isWhole = false, isOutdated = false;
	showText('Waiting for the first event …', -1);
	while (number === opened && status !== END) {
		if (!isWhole && !feedDecoder(feed, feedParts)) {
			source.files.forEach((_, part) => check(wasm.page_follow_finish(part)));
			isWhole = true;
		}
		if (!isOutdated && wasm.page_follow_is_outdated()) {
			isOutdated = true;
			postMessage(['outdated']);
		}
		status = await readNew(number);
		if (number !== opened)
			break;
		const isWanted = status === END || isDue();
		if (isWanted)
			refresh(source, now, status !== END);
		if (status === AGAIN)
			wasm.page_follow_complete(pageNow());
		if (isWanted)
			continue;
		if (!isWhole)
			await nextNews(feed);
	}
	feed.reader.cancel().catch(() => {});
	feed.resume();
	if (number === opened)
		postMessage(['ended', feed.error ? `The connection is lost (${feed.error.message}): what is shown ends there.` :
			take(wasm.page_follow_sentence())]);
}

async function open(source, now) {
	const number = ++opened;
	stopped = false;
	isQuiet = !!source.isGrowth;
	if (!isQuiet)
		kept.clear();
	stir();
	try {
		showText(`Reading ${source.title} …`, -1);
		await (source.live ? follow : load)(source, now, number);
	} catch (error) {
		const text = explain(error, source.title);
		if (number !== opened)
			return;
		showText('', -1);
		postMessage(['failed', text, !isShown]);
	} finally {
		if (number === opened) {
			wasm.page_load_drop();
			wasm.page_follow_drop();
		}
	}
}

// ---- Saving a part ----

let isCutting = false;

async function feedCut(stream) {
	const reader = stream.getReader();
	for (let part; !(part = await reader.read()).done;) {
		const at = wasm.page_cut_room(part.value.length);
		if (!at)
			check(MEMORY);
		new Uint8Array(memory.buffer, at, part.value.length).set(part.value);
		check(wasm.page_cut_more(part.value.length));
	}
}

async function makePart(source, start, end) {
	const [stream] = await bytesOf(source.files[0], source.deflated);
	give(source.title);
	check(wasm.page_cut_start(start, end, source.hz || 0));
	await feedCut(stream);
	check(wasm.page_cut_open());
	let status = AGAIN;
	while (status === AGAIN) {
		status = wasm.page_cut_step(STEP_EVENTS);
		check(status);
		await others();
	}
	const [bytes, count] = new Uint32Array(memory.buffer, wasm.page_cut_bytes(), 2);
	return copy(bytes, count);
}

async function cut(source, start, end, name) {
	if (isCutting)
		return;
	isCutting = true;
	try {
		const part = await makePart(source, start, end);
		postMessage(['part', part, name], [part]);
	} catch (error) {
		postMessage(['failed', explain(error, source.title)]);
	} finally {
		wasm.page_cut_drop();
		isCutting = false;
	}
}

const messages = {
	async start(options) {
		motion = options.reducedMotion ? 1 : 0;
		touched = options.isTouched ? 1 : 0;
		theme = options.theme;
		ahead = performance.timeOrigin - options.origin;
		wasd = options.hasWasd ? 1 : 0;
		listed = options.hasList ? 1 : 0;
		await start(options.wasm);
		give('');
		check(wasm.page_create(theme, motion, touched, wasd, listed));
		postMessage(['ready']);
	},
	open,
	cut,
	slice(slice) { handOver(slice); },
	stop() { stopped = true; },
	follow(isOn) {
		wasm.page_follow_pause(isOn ? 0 : 1);
		stir();
	},
	frame,
};

onmessage = async event => {
	const [kind, ...fields] = event.data;
	try {
		await messages[kind](...fields);
	} catch (error) {
		postMessage(['broken', String(error.message || error)]);
	}
};
