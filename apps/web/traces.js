// SPDX-License-Identifier: ISC
//
// The sources of traces: the page itself, files, or a server with several traces (served.js). A trace is one file, or
// several files that are one trace.

const isServed = !home.getElementById('wasm');
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

async function openServed(trace) {
	const view = !traceOfLink() || traceOfLink() === trace.id ? viewOfLink() : '';
	open({ ...describeServed(trace), view });
	if (traceOfLink() !== trace.id)
		history.pushState(null, '', '#trace=' + trace.id + (view ? '&' + view.replaceAll(' ', '&') : ''));
}

// Shows the trace that the address names, or the only one, or a list to choose from.
async function showTraces() {
	if (!isServed)
		return showEmpty('No trace is open.');
	try {
		const traces = await fetchTraces(), wanted = traceOfLink();
		const trace = wanted ? findTrace(traces, wanted) : traces.length === 1 && traces[0];
		if (trace && trace.parts && !trace.parts.length)
			await awaitFirst(traces);
		else if (trace)
			await openServed(trace);
		else
			listTraces(wanted && wanted !== ALL ? 'The trace of this link is not served any more.' : '', traces);
	} catch (error) {
		showEmpty(`The list of traces could not be loaded: ${error.message}.`);
	}
}

// Shows the others until there is something of what the server was asked for.
let awaited = null;

async function awaitFirst(traces) {
	const others = withGroups(traces).map(trace => trace.id + trace.state).join();
	if (awaited !== others)
		await listTraces('Nothing was recorded here yet. The page shows the trace as soon as it begins.', traces);
	awaited = others;
	setTimeout(() => source.id || traceOfLink() !== ALL || showTraces(), WATCH_MS);
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
	const state = trace.state && (STATES[trace.state] || trace.state);
	node('span', 'detail', [state && (trace.pid ? `${state}, pid ${trace.pid}` : state), trace.parts && 'as one: ' + titleOf(trace.parts), `${(trace.bytes / 1e6).toFixed(1)} MB`,
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
		const traces = withGroups(known || await fetchTraces());
		showEmpty(text || (traces.length ? 'Traces of this server' : 'This server has no trace, and nothing records here now.'));
		if (hasTrace)
			addWayBack();
		traces.sort((a, b) => isRunning(b) - isRunning(a) || b.modified - a.modified).forEach(addTrace);
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
	const hasAll = home.readyState !== 'loading';
	const block = home.querySelectorAll('script.trace')[taken];
	if (!hasAll && !(block && block.nextSibling))
		return setTimeout(nextSlice, 2, give);
	taken++;
	give(block && block.textContent ? decode(block.textContent) : null);
}
