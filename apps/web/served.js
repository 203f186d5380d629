// SPDX-License-Identifier: ISC
//
// The traces of a server: which of them are one, and how one grows. Traces of one boot have one clock, so they can be
// one trace: files, and rings, of which the server sends a copy. It is read again when the list shows that it has grown.

const WATCH_MS = 1000, WATCH_SHARE = 4; // pause between looks at the list, at least, and as a multiple of their cost
const KEPT_BYTES = 64 << 20;           // a larger file is fetched again each time
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

// What the server was asked for, if it is of one boot, which may be without a trace yet; else null.
function asOne(traces) {
	const parts = traces.filter(trace => !trace.run), boots = new Set(parts.map(trace => trace.boot));
	return boots.size > 1 || boots.has(undefined) ? null : joined(ALL, '', parts);
}

const findTrace = (traces, id) => id === ALL ? asOne(traces) : withGroups(traces).find(trace => trace.id === id);

const titleOf = files => files[0].name + (files.length > 1 ? ` and ${files.length - 1} more` : '');

function describeServed(trace) {
	const parts = trace.parts || [trace], only = parts.length === 1 && parts[0];
	const files = parts.map(part => ({
		name: part.name, size: part.bytes, url: `api/trace/${part.id}`,
		version: trace.parts && !part.state && part.bytes < KEPT_BYTES && `${part.bytes} ${part.modified}`,
	}));
	return {
		id: trace.id, title: titleOf(files), files, hz: parts[0].cpu_hz || 0, isLive: isRunning(trace), live: only && isRunning(only) && `api/live/${only.id}`,
		look: trace.parts && parts.map(part => [part.id, part.bytes, part.state, only && isRunning(only) ? '' : part.recorded || part.modified]).join(),
	};
}

// ---- Growth ----

let isPaused = false, hasFailed = false;

function grow(trace) {
	source = { ...source, ...describeServed(trace), again: true, isGrowth: true };
	nameTrace();
	worker.postMessage(['open', source, now()]);
}

// Looks whether the shown trace has grown. A part may vanish between the list and its request: so the first failure is
// silent, and the next look tries again.
async function watch() {
	const begun = now(), before = source;
	const isWanted = () => shown === source && source === before && source.look && !isPaused && !document.hidden;
	if (isServed && isWanted()) {
		const trace = await fetchTraces().then(traces => findTrace(traces, before.id)).catch(() => null);
		if (trace && trace.parts && trace.parts.length && isWanted() && describeServed(trace).look !== before.look)
			grow(trace);
	}
	const cost = Math.max(now() - begun, window.weft.opened ? window.weft.opened.ms : 0);
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
