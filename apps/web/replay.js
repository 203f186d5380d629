// SPDX-License-Identifier: ISC
//
// Replays a list of canvas operations. It runs for each frame, so it prefers boxes, which are cheaper than
// paths, and sets only those properties of the pen that have changed.

const colors = new Map();

function css(color) {
	let text = colors.get(color);
	if (!text)
		colors.set(color, text = '#' + color.toString(16).padStart(8, '0'));
	return text;
}

const { RECT, LINE, POLYLINE, POLYGON, DISC, RING, HATCH, TEXT, CLIP, UNCLIP, HATCH_STEP } = BORDER;
const HATCH_MAX = 1 << 20; // lines; a count, since `sum + HATCH_STEP` is `sum` again where sums are rounded down
const DASHES = named('DASH_', {
	SOLID: [], LONG: [BORDER.DASH_LONG_ON, BORDER.DASH_LONG_OFF], SHORT: [BORDER.DASH_SHORT_ON, BORDER.DASH_SHORT_OFF],
	DOTTED: [BORDER.DASH_DOTTED_ON, BORDER.DASH_DOTTED_OFF],
});
// An operation's length in words, and the offsets of its members: of words in words, of bytes in bytes.
const WORDS = BORDER.OP_BYTES / 4;
const [COLOR, BACK, X, Y, X2, Y2, WIDTH, SIZE, FIRST, COUNT] =
	['color', 'back', 'x', 'y', 'x2', 'y2', 'width', 'size', 'first', 'count'].map(name => BORDER['OP_' + name] / 4);
const { OP_type: TYPE, OP_dash: DASH, OP_bold: BOLD, OP_halo: HALO } = BORDER;

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

function addHatch(at) {
	const [x, y, x2, y2] = floats.subarray(at + X, at + X + 4);
	if (!(x < x2) || !(y < y2))
		return;
	const first = (Math.floor((x + y) / HATCH_STEP) + 1) * HATCH_STEP;
	const count = Math.min(Math.ceil((x2 + y2 - first) / HATCH_STEP), HATCH_MAX);
	for (let i = 0; i < count; i++) {
		const sum = first + i * HATCH_STEP;
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

// On screens with fractional scaling, rounds edges to whole pixels: [from, length].
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

// Joins adjacent boxes into one.
function drawBoxes(at, end, scale) {
	const color = ints[at + COLOR], x = floats[at + X], y = floats[at + Y], y2 = floats[at + Y2];
	let x2 = floats[at + X2], next = at + WORDS;
	while (next < end && ops[4 * next + TYPE] === RECT && ints[next + COLOR] === color && floats[next + X] === x2 &&
		floats[next + Y] === y && floats[next + Y2] === y2) {
		x2 = floats[next + X2];
		next += WORDS;
	}
	setFill(color);
	fillBox(x, y, x2, y2, scale);
	return next;
}

// The box of a line along an axis without dashes: boxes cost a fraction of a path.
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
	if (ops[4 * at + DASH] || (x !== x2 && y !== y2))
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
	const wanted = (ops[4 * at + BOLD] ? 'bold ' : '') + floats[at + SIZE] + 'px ' + FONT;
	if (wanted !== font)
		pen.font = font = wanted;
	if (ops[4 * at + HALO]) { // a halo
		setPen(ints[at + BACK], 4, 0);
		pen.lineJoin = 'round';
		pen.strokeText(text, x, y);
		pen.lineJoin = 'miter';
	}
	setFill(ints[at + COLOR]);
	pen.fillText(text, x, y);
}

// Joins consecutive strokes with equal pens into one path, unless they are transparent.
function drawStrokes(at, end, type) {
	const color = ints[at + COLOR], width = floats[at + WIDTH], kind = ops[4 * at + DASH];
	let next = at;
	setPen(color, type === HATCH ? 1 : width, kind);
	pen.beginPath();
	do {
		addStroke(next, type);
		next += WORDS;
	} while ((color & 255) === 255 && type !== HATCH && next < end && next < at + 16 * WORDS &&
		ops[4 * next + TYPE] === type && ints[next + COLOR] === color && floats[next + WIDTH] === width &&
		ops[4 * next + DASH] === kind && (type !== LINE || kind !== 0 ||
			(floats[next + X] !== floats[next + X2] && floats[next + Y] !== floats[next + Y2])));
	pen.stroke();
	return next;
}

// Draws consecutive pieces of a line that go up and down at one x, from point `i` on, as one box with
// square corners; returns where the next piece begins.
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

// Draws a polyline: pieces along an axis as boxes, others as paths of a few pieces, because the cost of a
// path is quadratic in its crossings. Short lines with slanted pieces are one path, for their corners.
const LONG = 48, PIECE = 24;

function drawPieces(at, scale) {
	const first = 2 * ints[at + FIRST], last = first + 2 * ints[at + COUNT] - 2, half = floats[at + WIDTH] / 2;
	let slanted = 0;
	if (ops[4 * at + DASH] || (ints[at + COUNT] <= LONG && !isAxial(first, last)))
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
		const type = ops[4 * at + TYPE];
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
		allText = null; // not only ASCII: offsets count bytes
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

// Lists the texts of the canvas with their boxes: [x, y, x2, y2, text].
function lettersOf() {
	const found = [];
	for (let at = 0; list && at < ints.length; at += WORDS) {
		const x = floats[at + X], y = floats[at + Y], size = floats[at + SIZE];
		if (ops[4 * at + TYPE] === TEXT)
			found.push([x, y - size, x + floats[at + WIDTH], y + size / 3, textOf(at)]);
	}
	return found;
}
