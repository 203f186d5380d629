// SPDX-License-Identifier: ISC
//
// The sources of traces: the page itself, files, or a server with several traces. A trace is one file, or several
// files of one boot.

const isServed = !element('wasm');
if (isServed && location.search) // "?again": only for the server
	history.replaceState(null, '', location.pathname + location.hash);
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
	notice(refusalOfLink());
	taken = 0;
	worker.postMessage(['open', { view: '', ...what, notes: stored('weft notes ' + what.title) }, now()]);
}

const titleOf = files => files[0].name + (files.length > 1 ? ` and ${files.length - 1} more` : '');

async function openServed(trace) {
	const view = !traceOfLink() || traceOfLink() === trace.id ? viewOfLink() : '';
	const files = (trace.parts || [trace]).map(({ id, name, bytes }) => ({ name, size: bytes, url: `api/trace/${id}` }));
	open({ id: trace.id, title: titleOf(files), files, view, live: trace.state === 'running' && `api/live/${trace.id}` });
	if (traceOfLink() !== trace.id)
		history.pushState(null, '', '#trace=' + trace.id + (view ? '&' + view.replaceAll(' ', '&') : ''));
}

async function fetchTraces() {
	const response = await fetch('api/traces').catch(() => {
		throw new Error('weft serve does not answer any more');
	});
	if (response.status === 403)
		throw new Error('this page has no valid token. If weft serve was started again, open the address that it printed');
	if (!response.ok)
		throw new Error(`the server says ${response.status}: ${(await response.text()).trim()}`);
	return withBoots(await response.json());
}

// Adds each boot of which there are several traces: they have one clock, and so can be one trace.
function withBoots(traces) {
	const boots = new Map();
	for (const trace of traces.filter(one => one.boot))
		boots.set(trace.boot, boots.get(trace.boot) || []).get(trace.boot).push(trace);
	const several = Array.from(boots).filter(([, parts]) => parts.length > 1);
	return [...several.map(([boot, parts]) => ({
		id: 'boot' + boot, parts, name: `All ${parts.length} traces of one boot`,
		bytes: parts.reduce((sum, part) => sum + part.bytes, 0), modified: Math.max(...parts.map(part => part.modified)),
	})), ...traces];
}

// Shows the trace that the address names, or the only one, or a list to choose from.
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
		showEmpty(`The list of traces could not be loaded: ${error.message}.`);
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
		trace.parts && 'as one: ' + titleOf(trace.parts), `${(trace.bytes / 1e6).toFixed(1)} MB`,
		!trace.state && ago(trace.modified / 1e6)].filter(Boolean).join(' · '), made);
	made.onclick = () => openServed(trace);
}

// The trace that is still shown behind the list.
function addWayBack() {
	const made = node('button', 'item link', '', element('traces'));
	made.type = 'button';
	node('span', 'words', '← ' + shown.title, made);
	node('span', 'detail', 'go on with it', made);
	made.onclick = leaveList;
}

function leaveList() {
	showEmpty('');
	canvas.focus({ preventScroll: true });
}

async function listTraces(text, known) {
	try {
		const traces = known || await fetchTraces();
		showEmpty(text || (traces.length ? 'Traces of this server' : 'This server has no trace, and nothing records here now.'));
		if (hasTrace)
			addWayBack();
		traces.sort((a, b) => (b.state === 'running') - (a.state === 'running') || b.modified - a.modified).forEach(addTrace);
		(element('traces').querySelector('button') || element('choose')).focus();
	} catch (error) {
		showEmpty(`The list of traces could not be loaded: ${error.message}.`);
	}
}

function openFiles(files) {
	if (!files.length)
		return;
	const list = Array.from(files, blob => ({ name: blob.name, size: blob.size, blob }));
	open({ title: titleOf(list), files: list, mustFit: true });
}

// The files in the page are in blocks of base64; an empty block ends a file. They are decoded one by one, as soon as
// the browser has loaded them: this script comes before them.
let taken = 0;

function decode(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), out = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		out[i] = raw.charCodeAt(i);
	return out;
}

// A block is complete when another element, or the end of the page, follows it.
function nextSlice(give) {
	const hasAll = document.readyState !== 'loading';
	const block = document.querySelectorAll('script.trace')[taken];
	if (!hasAll && !(block && block.nextSibling))
		return setTimeout(nextSlice, 2, give);
	taken++;
	give(block && block.textContent ? decode(block.textContent) : null);
}
