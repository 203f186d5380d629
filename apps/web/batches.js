// SPDX-License-Identifier: ISC
//
// Sends input to the worker, one batch at a time.

let worker, isReady = false, isBusy = false, isAsked = false, timer = 0, batch = [], list = null;
const now = () => performance.now();

function schedule() {
	if (isAsked)
		return;
	isAsked = true;
	requestAnimationFrame(flush);
}

// Sends all input since the last batch at once, so that input does not queue up behind a slow frame.
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

// Takes the keys that were not sent yet.
function takeKeys() {
	const isTaken = ([kind, key]) => kind === 'key' && key !== 'Escape';
	const keys = batch.filter(isTaken).map(([, key]) => key);
	batch = batch.filter(fields => !isTaken(fields));
	return keys;
}

const { MOVE, PRESS, RELEASE, LEAVE, CANCEL } = BORDER;

// Merges new input into the last one, if it replaces or continues that.
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
		if (options.files)
			open({ title: options.title, files: options.files, hz: options.hz, deflated: true, view: viewOfLink() || options.view });
		else
			showTraces();
	},
	wake: schedule,
	more() { nextSlice(slice => worker.postMessage(['slice', slice], slice ? [slice.buffer] : [])); },
	loading() { element('stop').hidden = false; },
	opened(facts) {
		element('stop').hidden = true;
		hasTrace = true;
		hasFailed = false;
		if (shown !== source && source.begun)
			source.cost = now() - source.begun; // until it was as far as before
		shown = source;
		if (!source.isGrowth)
			showEmpty('');
		if (!facts.live)
			showDamage(facts);
		window.weft.opened = facts;
	},
	failed(text, isGone) { // isGone: what was shown before is gone, too
		element('stop').hidden = true;
		if (!isGone && forgive())
			return void (source = shown);
		hasTrace = hasTrace && !isGone;
		if (!hasTrace) {
			showEmpty(text);
			return tryAgain();
		}
		source = shown;
		nameTrace();
		notice(text);
	},
	outdated() { source.look = OUTDATED; },
	ended(text) {
		endFollowing();
		notice(text);
	},
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
