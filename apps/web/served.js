// SPDX-License-Identifier: ISC
//
// The traces of a server: which of them are one, and how one grows. Traces of one boot have one clock, so they can be
// one trace, of files and rings. It is opened again when the list shows that there are others.

const WATCH_MS = 1000, WATCH_SHARE = 4; // pause between looks at the list, at least, and as a multiple of their cost
const KEPT_BYTES = 64 << 20;           // a larger file is fetched again each time
const PARTS_MAX = 256;                 // as the server allows
const ALL = 'all';                     // the id of what the operands of weft serve are together

async function fetchTraces() {
	const response = await fetch('api/traces').catch(() => {
		throw new Error('weft serve does not answer any more');
	});
	if (response.status === 403)
		throw new Error('this page has no valid token. If weft serve was started again, open the address that it printed');
	if (!response.ok)
		throw new Error(`the server says ${response.status}: ${(await response.text()).trim()}`);
	return response.json();
}

const isRunning = trace => trace.state === 'running';
const joined = (id, name, parts) => ({
	id, name, parts, state: parts.some(isRunning) && 'running', bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
	modified: Math.max(...parts.map(part => part.modified)),
});

// A ring has a run if it is not of what the server was asked for.
const groupOf = trace => trace.run ? 'run' + trace.run : trace.boot && 'boot' + trace.boot;

// Adds all traces of a boot, or of a run, as one if there are several.
function withGroups(traces) {
	const groups = new Map();
	for (const trace of traces.filter(groupOf))
		groups.set(groupOf(trace), groups.get(groupOf(trace)) || []).get(groupOf(trace)).push(trace);
	const several = Array.from(groups).filter(([, parts]) => parts.length > 1);
	return [...several.map(([id, parts]) => joined(id, parts[0].run ? `All ${parts.length} processes of one run` :
		`All ${parts.length} traces of one boot`, parts)), ...traces];
}

// Traces of several boots may be of hosts that worked together, if they ended at about the same time.
const TOGETHER_NS = 3600e9;
const endOf = part => isRunning(part) ? Date.now() * 1e6 : part.modified;
const areTogether = parts => Math.max(...parts.map(endOf)) - Math.min(...parts.map(endOf)) < TOGETHER_NS;
const bootsOf = parts => new Set(parts.map(part => part.boot));

// What the server was asked for, if it is of one boot, which may be without a trace yet, or of several hosts; else null.
function asOne(traces) {
	const parts = traces.filter(trace => !trace.run), boots = bootsOf(parts);
	return (boots.size > 1 && !areTogether(parts)) || boots.has(undefined) ? null : joined(ALL, '', parts);
}

const findTrace = (traces, id) => id === ALL ? asOne(traces) : withGroups(traces).find(trace => trace.id === id);

const titleOf = files => files[0].name + (files.length > 1 ? ` and ${files.length - 1} more` : '');

// ---- Which parts of a trace grow ----

// A trace that grows is sent as it grows: rings, and files that have grown while they were shown. Others are read once.
const grown = new Set(); // ids of such files
const isRing = part => 'pid' in part;

// A ring stands for the files of its buffer, such as snapshots.
function partsOf(trace) {
	const parts = trace.parts || [trace], rings = new Set(parts.filter(isRing).map(part => part.uuid));
	return parts.filter(part => isRing(part) || !rings.has(part.uuid));
}

// The parts that are sent as they grow. There are none if one buffer has several files, or if there are several hosts: what
// is new may change how their clocks compare, so all is read again.
function growingParts(trace, parts) {
	const growing = parts.filter(part => isRing(part) || grown.has(part.id)), uuids = new Set(parts.map(part => part.uuid));
	const isKnown = uuids.size === parts.length && !uuids.has(undefined);
	const hasWriter = growing.some(part => isRunning(part) || grown.has(part.id));
	return trace.parts && isKnown && hasWriter && bootsOf(parts).size === 1 && growing.length <= PARTS_MAX ? growing : [];
}

// What changes when a trace has to be read again. While parts are followed, only others change it: the file of a ring
// that has ended takes its place later.
function lookOf(trace, followed) {
	const others = partsOf(trace).filter(part => !followed.includes(part.uuid));
	return JSON.stringify([followed, others.map(part => [part.id, part.bytes, part.state, part.recorded || part.modified])]);
}

function describeServed(trace) {
	const parts = partsOf(trace), growing = growingParts(trace, parts), followed = growing.map(part => part.uuid);
	const isAlone = parts.length === 1 && isRunning(parts[0]), isFollowed = isAlone || growing.length > 0;
	const files = parts.map(part => ({
		id: part.id, name: part.name, size: part.bytes, url: `api/trace/${part.id}`, isLive: isAlone || growing.includes(part), isProgram: !!part.state,
		version: trace.parts && !part.state && part.bytes < KEPT_BYTES && `${part.bytes} ${part.modified}`,
	}));
	const partBytes = parts.length === 1 && parts[0].part_bytes || 0;
	return {
		id: trace.id, title: titleOf(files), partBytes, files, hz: parts[0].cpu_hz || 0, noAlign: parts[0].no_align, isLive: isFollowed || isRunning(trace),
		live: isFollowed && (isAlone ? `api/live/${parts[0].id}` : `api/parts/${growing.map(part => part.id)}`), hasFrames: !isAlone,
		followed, look: !partBytes && (trace.parts || !trace.state) && lookOf(trace, followed),
	};
}

// ---- Growth ----

const OUTDATED = 'outdated'; // as the look of a trace: it has to be opened again

let isPaused = false, hasFailed = false;

function grow(trace) {
	source = { ...source, ...describeServed(trace), again: true, isGrowth: true, begun: now() };
	nameTrace();
	worker.postMessage(['open', source, now()]);
}

function noteGrown(trace, before) {
	for (const part of partsOf(trace))
		if (!isRing(part) && before.files.some(file => file.id === part.id && !file.isLive && file.size < part.bytes))
			grown.add(part.id);
}

// What was followed has ended: the next look reads the files that have taken its place.
function endFollowing() {
	grown.clear();
	source.followed = [];
}

// Looks whether the shown trace has grown. A part may vanish between the list and its request: so the first failure is
// silent, and the next look tries again.
async function watch() {
	const begun = now(), before = source;
	const isWanted = () => shown === source && source === before && source.look && !isPaused && !document.hidden;
	if (isServed && isWanted()) {
		const trace = await fetchTraces().then(traces => findTrace(traces, before.id)).catch(() => null);
		if (trace && (!trace.parts || trace.parts.length) && isWanted() && lookOf(trace, before.followed) !== before.look) {
			noteGrown(trace, before);
			grow(trace);
		}
	}
	const cost = Math.max(now() - begun, window.weft.opened ? window.weft.opened.ms : 0, source.cost || 0);
	setTimeout(watch, Math.max(WATCH_MS, WATCH_SHARE * cost));
}

// True if the failure was of a trace that is still shown as it was, so that nobody needs to know.
function forgive() {
	const isFirst = source.isGrowth && !hasFailed;
	hasFailed = source.isGrowth;
	return isFirst;
}

// A program that has just begun to record may not have an event yet.
function tryAgain() {
	const failed = source;
	if (source.look && source.isLive)
		setTimeout(() => source !== failed || showTraces(), WATCH_MS);
}
