// SPDX-License-Identifier: ISC
//
// The page: passes input to the worker, replays its canvas lists, and shows its panel and its prompt
// as the browser's own widgets. What anything means is decided in there.
'use strict';

(() => {

const FONT = 'system-ui, "DejaVu Sans", sans-serif'; // as in worker.js
const THEMES = ['light', 'dark', 'safe', 'safe-dark'];
const element = id => document.getElementById(id);
const canvas = element('canvas'), pen = canvas.getContext('2d', { alpha: false });
const stage = element('stage'), panel = element('panel'), prompt = element('prompt');
const options = JSON.parse(element('options').textContent);

// ---- The worker, and one batch of input at a time ----

let worker, isReady = false, isBusy = false, isAsked = false, timer = 0, batch = [], list = null;
const now = () => performance.now();

function schedule() {
	if (isAsked)
		return;
	isAsked = true;
	requestAnimationFrame(flush);
}

// What has come while the worker was busy goes in one batch: nothing queues up behind a slow frame.
function flush() {
	isAsked = false;
	if (!isReady || isBusy)
		return;
	isBusy = true;
	clearTimeout(timer);
	worker.postMessage(['frame', batch, now()]);
	batch = [];
}

function input(...fields) {
	const last = batch[batch.length - 1];
	if (!last || !merge(last, fields))
		batch.push(fields);
	schedule();
}

const MOVE = 0, PRESS = 1, RELEASE = 2, LEAVE = 3, CANCEL = 4;

// Does the new input replace or continue the last one?
function merge(last, fields) {
	if (last[0] !== fields[0])
		return false;
	if (fields[0] === 'resize' || (fields[0] === 'prompt' && !last[2])) {
		last.splice(0, last.length, ...fields);
		return true;
	}
	if (fields[0] === 'pointer' && last[1] === MOVE && fields[1] === MOVE && last[5] === fields[5]) {
		last.splice(0, last.length, ...fields);
		return true;
	}
	if (fields[0] === 'wheel' && last[5] === fields[5]) {
		last.splice(1, 5, fields[1], fields[2], last[3] + fields[3], last[4] + fields[4], fields[5]);
		return true;
	}
	if (fields[0] === 'pinch') {
		last.splice(1, 3, fields[1], fields[2], last[3] * fields[3]);
		return true;
	}
	return false;
}

const answers = {
	ready() {
		isReady = true;
		resize();
		schedule();
		if (options.trace)
			open({ title: options.title, size: options.size, deflated: true, view: viewOfLink() || options.view });
		else
			showTraces();
	},
	wake: schedule,
	more() { nextSlice(slice => worker.postMessage(['slice', slice], slice ? [slice.buffer] : [])); },
	loading() { element('stop').hidden = false; },
	opened(facts) {
		element('stop').hidden = true;
		hasTrace = true;
		shown = source;
		showEmpty('');
		if (!facts.live)
			showDamage(facts);
		window.weft.opened = facts;
	},
	failed(text, isGone) { // what was shown before, too, or there was nothing
		element('stop').hidden = true;
		hasTrace = hasTrace && !isGone;
		if (!hasTrace)
			return showEmpty(text);
		source = shown;
		nameTrace();
		notice(text);
	},
	ended(text) { notice(text); },
	part(bytes, name) { download(new Blob([bytes]), name); },
	broken(text) {
		notice(`The viewer has stopped: ${text}. Please reload the page.`);
	},
	frame(answer) {
		isBusy = false;
		apply(answer);
		if (batch.length || answer.wait === 0)
			schedule();
		else if (answer.wait < 1e9)
			timer = setTimeout(schedule, answer.wait);
	},
};

function listen(event) {
	const [kind, ...fields] = event.data;
	answers[kind](...fields);
}

// ---- Replaying a canvas ----

const colors = new Map();

function css(color) {
	let text = colors.get(color);
	if (!text)
		colors.set(color, text = '#' + color.toString(16).padStart(8, '0'));
	return text;
}

const RECT = 0, LINE = 1, POLYLINE = 2, POLYGON = 3, DISC = 4, RING = 5, HATCH = 6, TEXT = 7, CLIP = 8, UNCLIP = 9;
const DASHES = [[], [6, 4], [4, 3], [1, 3]];
const WORDS = 11, BYTES = 4 * WORDS; // of struct weft_canvas_op
const COLOR = 1, BACK = 2, X = 3, Y = 4, X2 = 5, Y2 = 6, WIDTH = 7, SIZE = 8, FIRST = 9, COUNT = 10;

let ops, ints, floats, points, bytes, allText;
let fill = '', stroke = '', lineWidth = -1, dash = -1, font = '';
const utf8 = new TextDecoder();

function forgetState() {
	fill = stroke = font = '';
	lineWidth = dash = -1;
}

function setFill(color) {
	const text = css(color);
	if (text !== fill)
		pen.fillStyle = fill = text;
}

function setPen(color, width, kind) {
	const text = css(color);
	if (text !== stroke)
		pen.strokeStyle = stroke = text;
	if (width !== lineWidth)
		pen.lineWidth = lineWidth = width;
	if (kind !== dash)
		pen.setLineDash(DASHES[dash = kind]);
}

function addPoints(at) {
	const first = 2 * ints[at + FIRST], end = first + 2 * ints[at + COUNT];
	pen.moveTo(points[first], points[first + 1]);
	for (let i = first + 2; i < end; i += 2)
		pen.lineTo(points[i], points[i + 1]);
}

function addCircle(at) {
	pen.moveTo(floats[at + X] + floats[at + X2], floats[at + Y]);
	pen.arc(floats[at + X], floats[at + Y], floats[at + X2], 0, 2 * Math.PI);
}

const HATCH_STEP = 8; // as in canvas.c

function addHatch(at) {
	const [x, y, x2, y2] = floats.subarray(at + X, at + X + 4);
	if (!(x < x2) || !(y < y2))
		return;
	for (let sum = (Math.floor((x + y) / HATCH_STEP) + 1) * HATCH_STEP; sum < x2 + y2; sum += HATCH_STEP) {
		const left = Math.max(x, sum - y2), right = Math.min(x2, sum - y);
		pen.moveTo(left, sum - left);
		pen.lineTo(right, sum - right);
	}
}

function addStroke(at, type) {
	if (type === LINE) {
		pen.moveTo(floats[at + X], floats[at + Y]);
		pen.lineTo(floats[at + X2], floats[at + Y2]);
	} else if (type === RING) {
		addCircle(at);
	} else if (type === HATCH) {
		addHatch(at);
	} else {
		addPoints(at);
	}
}

// On screens whose pixels are not ours, edges go to whole pixels: [from, length].
function snap(from, to, scale) {
	const start = Math.round(from * scale);
	return [start / scale, Math.max(Math.round(to * scale) - start, 1) / scale];
}

function fillBox(x, y, x2, y2, scale) {
	if (scale === 1)
		return pen.fillRect(x, y, x2 - x, y2 - y);
	const [left, width] = snap(x, x2, scale), [top, height] = snap(y, y2, scale);
	pen.fillRect(left, top, width, height);
}

// Boxes side by side become one.
function drawBoxes(at, end, scale) {
	const color = ints[at + COLOR], x = floats[at + X], y = floats[at + Y], y2 = floats[at + Y2];
	let x2 = floats[at + X2], next = at + WORDS;
	while (next < end && ops[4 * next] === RECT && ints[next + COLOR] === color && floats[next + X] === x2 &&
		floats[next + Y] === y && floats[next + Y2] === y2) {
		x2 = floats[next + X2];
		next += WORDS;
	}
	setFill(color);
	fillBox(x, y, x2, y2, scale);
	return next;
}

// Lines along an axis, without dashes, are boxes, which cost a fraction of a path.
function boxOfLine(x, y, x2, y2, half, first, last, scale) {
	if (y === y2) {
		const before = x < x2 ? first : last, after = x < x2 ? last : first;
		fillBox(Math.min(x, x2) - before, y - half, Math.max(x, x2) + after, y + half, scale);
	} else {
		const above = y < y2 ? first : last, below = y < y2 ? last : first;
		fillBox(x - half, Math.min(y, y2) - above, x + half, Math.max(y, y2) + below, scale);
	}
}

function drawLineAsBox(at, scale) {
	const x = floats[at + X], y = floats[at + Y], x2 = floats[at + X2], y2 = floats[at + Y2];
	if (ops[4 * at + 1] || (x !== x2 && y !== y2))
		return false;
	setFill(ints[at + COLOR]);
	boxOfLine(x, y, x2, y2, floats[at + WIDTH] / 2, 0, 0, scale);
	return true;
}

function textOf(at) {
	const first = ints[at + FIRST], end = first + ints[at + COUNT];
	return allText === null ? utf8.decode(bytes.subarray(first, end)) : allText.slice(first, end);
}

function drawText(at) {
	const text = textOf(at), x = floats[at + X], y = floats[at + Y];
	const wanted = (ops[4 * at + 2] ? 'bold ' : '') + floats[at + SIZE] + 'px ' + FONT;
	if (wanted !== font)
		pen.font = font = wanted;
	if (ops[4 * at + 3]) { // a halo
		setPen(ints[at + BACK], 4, 0);
		pen.lineJoin = 'round';
		pen.strokeText(text, x, y);
		pen.lineJoin = 'miter';
	}
	setFill(ints[at + COLOR]);
	pen.fillText(text, x, y);
}

// Neighbours of one pen become one path, unless they would show through each other.
function drawStrokes(at, end, type) {
	const color = ints[at + COLOR], width = floats[at + WIDTH], kind = ops[4 * at + 1];
	let next = at;
	setPen(color, type === HATCH ? 1 : width, kind);
	pen.beginPath();
	do {
		addStroke(next, type);
		next += WORDS;
	} while ((color & 255) === 255 && type !== HATCH && next < end && next < at + 16 * WORDS &&
		ops[4 * next] === type && ints[next + COLOR] === color && floats[next + WIDTH] === width &&
		ops[4 * next + 1] === kind && (type !== LINE || kind !== 0 ||
			(floats[next + X] !== floats[next + X2] && floats[next + Y] !== floats[next + Y2])));
	pen.stroke();
	return next;
}

// The pieces of a line up and down in one place, from the point at `i` on, are one box; where the next
// piece begins. Corners are square, and its own.
function drawUpright(i, first, last, half, scale) {
	const x = points[i], y = points[i + 1];
	let top = y, bottom = y, next = i;
	do {
		next += 2;
		top = Math.min(top, points[next + 1]);
		bottom = Math.max(bottom, points[next + 1]);
	} while (next < last && points[next + 2] === x);
	const end = points[next + 1];
	const above = (i > first && y === top) || (next < last && end === top) ? half : 0;
	const below = (i > first && y === bottom) || (next < last && end === bottom) ? half : 0;
	fillBox(x - half, top - above, x + half, bottom + below, scale);
	return next;
}

function isAxial(first, last) {
	for (let i = first; i < last; i += 2)
		if (points[i] !== points[i + 2] && points[i + 1] !== points[i + 3])
			return false;
	return true;
}

// A line of several pieces as boxes, as far as they are along an axis, and paths of a few of the others:
// a path of thousands that cross each other costs their square. Short lines with slanted pieces are left
// as they are, for their corners.
const LONG = 48, PIECE = 24;

function drawPieces(at, scale) {
	const first = 2 * ints[at + FIRST], last = first + 2 * ints[at + COUNT] - 2, half = floats[at + WIDTH] / 2;
	let slanted = 0;
	if (ops[4 * at + 1] || (ints[at + COUNT] <= LONG && !isAxial(first, last)))
		return false;
	setFill(ints[at + COLOR]);
	for (let i = first; i < last;) {
		const x = points[i], y = points[i + 1], x2 = points[i + 2], y2 = points[i + 3];
		if (x === x2) {
			i = drawUpright(i, first, last, half, scale);
			continue;
		}
		i += 2;
		if (y === y2) {
			const before = i > first + 2 && points[i - 4] === x ? -half : 0;
			const after = i < last && points[i + 2] === x2 ? -half : 0;
			if (Math.abs(x2 - x) + before + after > 0)
				boxOfLine(x, y, x2, y2, half, before, after, scale);
			continue;
		}
		if (slanted === 0) {
			setPen(ints[at + COLOR], floats[at + WIDTH], 0);
			pen.beginPath();
		}
		pen.moveTo(x, y);
		pen.lineTo(x2, y2);
		if (++slanted === PIECE) {
			pen.stroke();
			slanted = 0;
		}
	}
	if (slanted)
		pen.stroke();
	return true;
}

function replay(target, scale) {
	const end = ints.length;
	for (let at = 0; at < end;) {
		const type = ops[4 * at];
		switch (type) {
		case RECT:
			at = drawBoxes(at, end, scale);
			continue;
		case LINE:
			if (drawLineAsBox(at, scale))
				break;
			at = drawStrokes(at, end, type);
			continue;
		case POLYLINE:
			if (drawPieces(at, scale))
				break;
			// falls through
		case RING:
		case HATCH:
			at = drawStrokes(at, end, type);
			continue;
		case POLYGON:
		case DISC:
			setFill(ints[at + COLOR]);
			pen.beginPath();
			if (type === DISC)
				addCircle(at);
			else
				addPoints(at);
			pen.fill();
			break;
		case TEXT:
			drawText(at);
			break;
		case CLIP:
			pen.save();
			pen.beginPath();
			pen.rect(floats[at + X], floats[at + Y], floats[at + X2] - floats[at + X], floats[at + Y2] - floats[at + Y]);
			pen.clip();
			break;
		case UNCLIP:
			pen.restore();
			forgetState();
			break;
		}
		at += WORDS;
	}
}

function draw() {
	if (!list)
		return;
	const scale = devicePixelRatio, begun = now();
	const width = Math.round(list.width * scale), height = Math.round(list.height * scale);
	if (canvas.width !== width || canvas.height !== height) {
		canvas.width = width;
		canvas.height = height;
		canvas.style.width = list.width + 'px';
		canvas.style.height = list.height + 'px';
	}
	ops = new Uint8Array(list.ops);
	ints = new Uint32Array(list.ops);
	floats = new Float32Array(list.ops);
	points = new Float32Array(list.points);
	bytes = new Uint8Array(list.text);
	allText = utf8.decode(bytes);
	if (allText.length !== bytes.length)
		allText = null; // not only ASCII: offsets are those of bytes
	pen.reset();
	pen.scale(scale, scale);
	pen.fontKerning = 'none';
	pen.textRendering = 'geometricPrecision';
	forgetState();
	replay(pen, scale);
	const { frames } = window.weft;
	frames.push([list.cost, now() - begun, ints.length / WORDS]);
	if (window.weft.opened && !window.weft.opened.shown)
		window.weft.opened.shown = now();
	if (frames.length > 1000)
		frames.splice(0, 500);
}

// Each text of the canvas, and where: [x, y, x2, y2, text].
function lettersOf() {
	const found = [];
	for (let at = 0; list && at < ints.length; at += WORDS) {
		const x = floats[at + X], y = floats[at + Y], size = floats[at + SIZE];
		if (ops[4 * at] === TEXT)
			found.push([x, y - size, x + floats[at + WIDTH], y + size / 3, textOf(at)]);
	}
	return found;
}

// ---- What the viewer shows besides ----

function place(node, x, y, width, height) {
	node.hidden = !(width > 0 && height > 0);
	Object.assign(node.style, { left: x + 'px', top: y + 'px', width: width + 'px', height: height + 'px' });
}

let canvasSize = [1, 1], linkTimer = 0;

function apply(answer) {
	if (answer.boxes) {
		const [x, y, width, height, ...rest] = answer.boxes;
		canvasSize = [width, height];
		canvas.style.left = x + 'px';
		canvas.style.top = y + 'px';
		place(panel, ...rest);
	}
	if (answer.list) {
		const [background, text, dim, grid, selection, failed] = answer.colors;
		const style = document.documentElement.style;
		Object.entries({ background, text, dim, grid, selection, failed }).forEach(
			([name, value]) => style.setProperty('--' + name, value));
		list = { ...answer.list, width: canvasSize[0], height: canvasSize[1], cost: answer.cost };
		draw();
	}
	if (answer.controls)
		showControls(answer.controls);
	if (answer.panel)
		showPanel(answer.panel);
	if (answer.prompt)
		showPrompt(answer.prompt);
	if (answer.status !== undefined)
		element('status').textContent = answer.status;
	if (answer.cursor)
		canvas.style.cursor = answer.cursor;
	if (answer.requests)
		answer.requests.forEach(request => requests[request.type](request));
	if (answer.link !== undefined)
		keepLink(answer.link);
	answer.unused.forEach(unusedKey);
}

function node(name, className, text, parent) {
	const made = document.createElement(name);
	made.className = className;
	if (text)
		made.textContent = text;
	parent.append(made);
	return made;
}

function showItem(item, index) {
	const isActive = item.command !== '';
	const name = item.type === 'heading' ? 'h3' : isActive ? 'button' : 'p';
	const made = node(name, 'item ' + item.type, '', element('items'));
	node('span', 'words', item.text, made);
	if (item.detail)
		node('span', 'detail', item.detail, made);
	if (item.color)
		made.style.setProperty('--role', item.color);
	if (item.type === 'toggle')
		made.setAttribute('aria-pressed', item.selected);
	else if (item.selected)
		made.setAttribute('aria-current', 'true');
	if (isActive) {
		made.type = 'button';
		made.dataset.index = index;
		made.onclick = () => input('command', item.command, now());
	}
}

// What is drawn as buttons and handles, as something that takes the keyboard and has a name.
function makeControl(control) {
	const made = node(control.isHandle ? 'div' : 'button', 'control', '', element('controls'));
	if (control.isHandle) {
		made.setAttribute('role', 'slider');
		made.tabIndex = 0;
	} else {
		made.type = 'button';
		made.onclick = () => press(made);
	}
	return made;
}

// The panel that a button opens is where its reader wants to go.
function press(button) {
	if (button.getAttribute('aria-disabled') === 'true')
		return;
	goesToPanel = button.matches(':focus-visible') && /^(panel|help)/.test(button.dataset.command);
	input('command', button.dataset.command, now());
}

function showControls(list) {
	const parent = element('controls');
	list.forEach((control, i) => {
		let shown = parent.children[i];
		if (shown && (shown.tagName === 'DIV') !== control.isHandle) {
			shown.replaceWith(shown = makeControl(control));
		} else if (!shown) {
			shown = makeControl(control);
		}
		const [left, top, width, height] = control.box;
		Object.assign(shown.style, { left: left + 'px', top: top + 'px', width: width + 'px', height: height + 'px' });
		shown.dataset.command = control.command;
		shown.setAttribute('aria-label', control.name);
		if (control.isHandle)
			shown.setAttribute('aria-valuetext', control.value);
		else
			shown.setAttribute('aria-pressed', control.isOn);
		shown.setAttribute('aria-disabled', control.isOff);
	});
	while (parent.children.length > list.length) {
		if (parent.lastChild === document.activeElement)
			canvas.focus({ preventScroll: true });
		parent.lastChild.remove();
	}
}

let goesToPanel = false;

function showPanel(content) {
	const held = panel.contains(document.activeElement) ? document.activeElement.dataset.index : undefined;
	element('items').replaceChildren();
	element('panel-title').textContent = content.title;
	content.items.forEach(showItem);
	const items = element('items').children;
	if (content.selected >= 0 && items[content.selected])
		items[content.selected].scrollIntoView({ block: 'nearest' });
	if (held !== undefined) {
		const again = element('items').querySelector(`[data-index="${held}"]`);
		(again || canvas).focus({ preventScroll: true });
	} else if (goesToPanel && content.items.length) {
		(element('items').querySelector('button') || element('panel-close')).focus();
	}
	goesToPanel = false;
}

function showPrompt(content) {
	const line = element('line'), wasOpen = !prompt.hidden;
	prompt.hidden = !content.open;
	element('prompt-label').textContent = content.label;
	element('message').textContent = content.message;
	prompt.classList.toggle('error', content.error);
	line.setAttribute('aria-invalid', content.error);
	if (content.open && !wasOpen) {
		line.value = content.text;
		line.focus();
		line.select();
	} else if (!content.open && wasOpen) {
		canvas.focus({ preventScroll: true });
	}
}

function notice(text) {
	element('notice').hidden = !text;
	element('notice-text').textContent = text;
}

let hasTrace = false, shown = null;

function showEmpty(text) {
	element('empty').hidden = !text;
	element('empty-text').textContent = text;
	element('traces').replaceChildren();
}

function showDamage(facts) {
	const lines = [];
	if (facts.stopped)
		lines.push('Reading was stopped: what is shown ends there.');
	if (facts.damage.length)
		lines.push('Parts of the trace are damaged, and were left out:', ...facts.damage.slice(0, 4));
	if (facts.damage.length > 4)
		lines.push(`and ${facts.damage.length - 4} more kinds of damage: \`weft info\` lists them`);
	notice(lines.join('\n'));
}

// The view is in the address, so that copying it copies the view: "#view&start=12ms&duration=3ms".
// A server's traces have a name there, too: "#trace=ID&view&…".
const linkOf = view => '#' + (source.id ? `trace=${source.id}&` : '') + view.replaceAll(' ', '&');
const viewOfLink = () => location.hash.slice(1).replace(/^trace=\w*&?/, '').replaceAll('&', ' ');
const traceOfLink = () => (/^#trace=(\w+)/.exec(location.hash) || [])[1];

function keepLink(text) {
	window.weft.link = text;
	clearTimeout(linkTimer);
	if (!hasTrace)
		return;
	linkTimer = setTimeout(() => {
		try {
			history.replaceState(null, '', linkOf(text));
		} catch { /* too often for this browser */ }
	}, 400);
}

addEventListener('hashchange', () => {
	if (traceOfLink() !== source.id)
		showTraces();
	else if (viewOfLink())
		input('command', viewOfLink(), now());
});

// ---- What the viewer asks for ----

function stored(name, value) {
	try { // refused in private windows, and where cookies are
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
		notice('This browser does not let the page copy. Here it is: ' + text);
	}
}

const requests = {
	copy(request) {
		copyText(request.text.startsWith('view ') ? location.href.split('#')[0] + linkOf(request.text) : request.text);
	},
	notes(request) { stored('weft notes ' + source.title, request.text); },
	svg(request) { download(new Blob([request.bytes], { type: 'image/svg+xml' }), request.text); },
	png(request) { canvas.toBlob(blob => download(blob, request.text)); },
	cut(request) {
		const { blob, url, deflated, title, id, live } = source;
		taken = 0;
		worker.postMessage(['cut', { blob, url: live ? `api/trace/${id}` : url, deflated, title },
			request.start, request.end, request.text]);
	},
	open() {
		if (isServed)
			listTraces('');
		else
			element('file').click();
	},
	reload() { open({ ...source, again: true }); },
	follow(request) { worker.postMessage(['follow', request.start === 1n]); },
	window() { window.open(location.href); },
	theme(request) { stored('weft theme', request.text); },
};

// ---- Traces ----

const isServed = !element('wasm');
let source = { title: '' };

function nameTrace() {
	document.title = (source.title ? source.title + ' – ' : '') + 'weft';
	canvas.setAttribute('aria-label', `${source.title}: tasks over time. Press ? for the keys.`);
}

function open(what) {
	source = what;
	window.weft.opened = null;
	showEmpty('');
	nameTrace();
	notice('');
	taken = 0;
	worker.postMessage(['open', { view: '', ...what, notes: stored('weft notes ' + what.title) }, now()]);
}

// ---- The traces of a server ----

async function openServed(trace) {
	const isLive = trace.state === 'running', view = !traceOfLink() || traceOfLink() === trace.id ? viewOfLink() : '';
	open({ id: trace.id, title: trace.name, size: trace.bytes, view,
		[isLive ? 'live' : 'url']: `api/${isLive ? 'live' : 'trace'}/${trace.id}` });
	if (traceOfLink() !== trace.id)
		history.pushState(null, '', '#trace=' + trace.id + (view ? '&' + view.replaceAll(' ', '&') : ''));
}

async function fetchTraces() {
	const response = await fetch('api/traces');
	if (!response.ok)
		throw new Error(`the server says ${response.status}: ${(await response.text()).trim()}`);
	return response.json();
}

// The trace that the address names, or the only one, or a list to choose from.
async function showTraces() {
	if (!isServed)
		return showEmpty('No trace is open.');
	try {
		const traces = await fetchTraces(), wanted = traceOfLink();
		const trace = traces.find(one => one.id === wanted) || (traces.length === 1 && !wanted && traces[0]);
		if (trace)
			await openServed(trace);
		else
			listTraces(wanted ? 'The trace of this link is not served any more.' : '', traces);
	} catch (error) {
		showEmpty(`The list of traces did not come: ${error.message}.`);
	}
}

const ago = milliseconds => {
	const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']], seconds = (Date.now() - milliseconds) / 1000;
	const [length, name] = units.find(([length]) => seconds >= length) || units[3], count = Math.max(0, Math.floor(seconds / length));
	return `${count} ${name}${count === 1 ? '' : 's'} ago`;
};

const STATES = { running: 'recording now', stopped: 'stopped recording', ended: 'ended' };

function addTrace(trace) {
	const made = node('button', 'item link', '', element('traces'));
	made.type = 'button';
	node('span', 'words', trace.name, made);
	node('span', 'detail', [trace.state && `${STATES[trace.state] || trace.state}, pid ${trace.pid}`,
		`${(trace.bytes / 1e6).toFixed(1)} MB`, !trace.state && ago(trace.modified / 1e6)].filter(Boolean).join(' · '), made);
	made.onclick = () => openServed(trace);
}

async function listTraces(text, known) {
	try {
		const traces = known || await fetchTraces();
		showEmpty(text || (traces.length ? 'Traces of this server' : 'This server has no trace, and nothing records here now.'));
		traces.sort((a, b) => (b.state === 'running') - (a.state === 'running') || b.modified - a.modified).forEach(addTrace);
		(element('traces').querySelector('button') || element('choose')).focus();
	} catch (error) {
		showEmpty(`The list of traces did not come: ${error.message}.`);
	}
}

function openFiles(files) {
	if (!files.length)
		return;
	open({ title: files[0].name, size: files[0].size, blob: files[0] });
	if (files.length > 1)
		notice(`One trace a window: this is ${files[0].name}.`);
}

// The trace in the page lies in blocks of base64, which are taken one by one, as soon as the browser has
// read them: this script stands before them.
let taken = 0;

function decode(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), out = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		out[i] = raw.charCodeAt(i);
	return out;
}

// A block is whole once something stands behind it, be it the end of the page.
function nextSlice(give) {
	const hasAll = document.readyState !== 'loading';
	const block = document.querySelectorAll('script.trace')[taken];
	if (!hasAll && !(block && block.nextSibling))
		return setTimeout(nextSlice, 2, give);
	taken++;
	give(block ? decode(block.textContent) : null);
}

// ---- Input ----

const modifiers = event => (event.shiftKey ? 1 : 0) | (event.ctrlKey || event.metaKey ? 2 : 0) | (event.altKey ? 4 : 0);

function pointer(event, action) {
	const box = canvas.getBoundingClientRect();
	const button = action === PRESS || action === RELEASE ? [1, 2, 3][event.button] || 0 : 0;
	input('pointer', action, button, event.pointerType === 'touch' ? 1 : 0, modifiers(event), event.pointerId >>> 0,
		event.clientX - box.left, event.clientY - box.top, now());
}

canvas.addEventListener('pointerdown', event => {
	canvas.focus({ preventScroll: true });
	try {
		canvas.setPointerCapture(event.pointerId);
	} catch { /* it has gone already */ }
	pointer(event, PRESS);
	event.preventDefault();
});
canvas.addEventListener('pointermove', event => pointer(event, MOVE));
canvas.addEventListener('pointerup', event => pointer(event, RELEASE));
canvas.addEventListener('pointercancel', event => pointer(event, CANCEL));
canvas.addEventListener('pointerleave', event => pointer(event, LEAVE));
canvas.addEventListener('contextmenu', event => event.preventDefault());

// A notch of a wheel is 100 pixels or 3 lines; browsers send a touchpad's pinch as a wheel with ctrl.
canvas.addEventListener('wheel', event => {
	const box = canvas.getBoundingClientRect();
	const unit = [1.2, 40, 400][event.deltaMode], x = event.clientX - box.left, y = event.clientY - box.top;
	if (event.ctrlKey)
		input('pinch', x, y, Math.exp(-event.deltaY * unit / 120), now());
	else
		input('wheel', x, y, event.deltaX * unit, event.deltaY * unit, modifiers(event), now());
	event.preventDefault();
}, { passive: false });

const OWN = /^(.|Arrow.*|Escape|Enter|Tab|Home|End|PageUp|PageDown|Backspace|Delete|F5)$/u;

// Keys with ctrl, alt or the system's key are the browser's; so is what a focused widget needs.
function isViewers(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !OWN.test(event.key))
		return false;
	const at = event.target;
	if (at.matches('input'))
		return event.key === 'Escape';
	if (at.matches('button'))
		return !['Enter', ' ', 'Tab'].includes(event.key);
	if (at.matches('[role=slider]') && /^Arrow(Left|Right)$/.test(event.key))
		return false;
	return at === canvas || event.key !== 'Tab';
}

// To the panel if there is one, else to the buttons.
function leaveCanvas() {
	const inPanel = element('items').querySelector('button') || element('panel-close');
	(panel.hidden ? element('controls').firstElementChild || canvas : inPanel).focus();
}

document.addEventListener('keydown', event => {
	if (!isViewers(event))
		return;
	event.preventDefault();
	if (panel.contains(event.target) && (event.key === 'ArrowDown' || event.key === 'ArrowUp'))
		return moveInPanel(event.target, event.key === 'ArrowDown' ? 1 : -1);
	input('key', event.key, modifiers(event), now());
});

function moveInPanel(from, by) {
	const buttons = Array.from(panel.querySelectorAll('button'));
	const next = buttons[buttons.indexOf(from) + by];
	if (next)
		next.focus();
}

// Keys that the viewer leaves to us, as they would have worked without it.
function unusedKey(key) {
	if (key === 'Tab') {
		leaveCanvas();
	} else if (key === 'F5') {
		location.reload();
	}
}

element('line').addEventListener('input', event => input('prompt', event.target.value, 0, now()));
prompt.addEventListener('submit', event => {
	event.preventDefault();
	input('prompt', element('line').value, 1, now());
});

document.addEventListener('dragover', event => {
	event.preventDefault();
	document.body.classList.add('dropping');
});
document.addEventListener('dragleave', () => document.body.classList.remove('dropping'));
document.addEventListener('drop', event => {
	event.preventDefault();
	document.body.classList.remove('dropping');
	openFiles(event.dataTransfer.files);
});
element('file').addEventListener('change', event => {
	openFiles(event.target.files);
	event.target.value = '';
});
element('panel-close').addEventListener('click', () => {
	input('command', 'close', now());
	canvas.focus({ preventScroll: true });
});
element('prompt-close').addEventListener('click', () => input('key', 'Escape', 0, now()));
element('notice-close').addEventListener('click', () => notice(''));
element('stop').addEventListener('click', () => worker.postMessage(['stop']));
element('controls').addEventListener('keydown', event => {
	const side = { ArrowLeft: 'left', ArrowRight: 'right' }[event.key];
	if (event.target.matches('[role=slider]') && side && !event.ctrlKey && !event.metaKey && !event.altKey) {
		event.preventDefault();
		input('command', `${event.target.dataset.command} ${side}`, now());
	}
});
element('choose').addEventListener('click', () => element('file').click());

// ---- Size, theme, beginning ----

function resize() {
	const box = stage.getBoundingClientRect();
	input('resize', Math.max(box.width, 1), Math.max(box.height, 1), now());
}

function watchPixels() { // another screen, or zoomed
	matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
		draw();
		watchPixels();
	}, { once: true });
}

const dark = matchMedia('(prefers-color-scheme: dark)');

function firstTheme() {
	return options.theme || stored('weft theme') || (dark.matches ? 'dark' : 'light');
}

dark.addEventListener('change', () => {
	if (!options.theme && !stored('weft theme'))
		input('command', 'theme ' + (dark.matches ? 'dark' : 'light'), now());
});

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Response(stream).arrayBuffer();
}

async function begin() {
	let bytes;
	if (element('wasm')) {
		const source = element('worker').textContent;
		worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
		bytes = await inflate(decode(element('wasm').textContent.trim()));
	} else {
		worker = new Worker('worker.js');
		bytes = await (await fetch('weft.wasm')).arrayBuffer();
	}
	worker.onmessage = listen;
	worker.onerror = event => answers.broken(event.message || 'the worker could not start');
	worker.postMessage(['start', {
		wasm: bytes, theme: Math.max(THEMES.indexOf(firstTheme()), 0),
		reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches,
	}], [bytes]);
}

// For tests and benchmarks: what was drawn, and whether all is done.
window.weft = {
	frames: [], opened: null, get title() { return source.title; }, get size() { return canvasSize; },
	isIdle: () => isReady && !isBusy && !isAsked && !batch.length,
	draw, command: text => input('command', text, now()),
	letters: lettersOf, text: () => lettersOf().map(letters => letters[4]).join('\n'),
};
new ResizeObserver(resize).observe(stage);
watchPixels();
canvas.focus({ preventScroll: true });
begin().catch(error => notice(`The page cannot start here: ${error.message}. ` +
	'It needs a browser with WebAssembly and DecompressionStream (any of 2023 or later).'));

})();
