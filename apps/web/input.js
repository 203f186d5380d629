// SPDX-License-Identifier: ISC
//
// Passes pointers, wheels and keys to the viewer, and handles keys that it does not use.

const modifiers = event => (event.shiftKey ? BORDER.SHIFT : 0) |
	(event.ctrlKey || event.metaKey ? BORDER.CONTROL : 0) | (event.altKey ? BORDER.ALT : 0);

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

// A wheel's notch is 100 pixels or 3 lines. Browsers send a touchpad's pinch as a wheel event with ctrl.
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

// Keys with ctrl, alt or the system's key belong to the browser; keys that a focused widget needs belong to that widget.
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

// Moves focus to the panel if there is one, else to the buttons.
function leaveCanvas() {
	const inPanel = element('items').querySelector('button') || element('panel-close');
	(panel.hidden ? element('controls').firstElementChild || canvas : inPanel).focus();
}

document.addEventListener('keydown', event => {
	if (!isViewers(event))
		return;
	event.preventDefault();
	if (event.key === 'Escape' && !panel.contains(event.target) && !prompt.contains(event.target))
		canvas.focus({ preventScroll: true });
	if (event.key === 'Escape' && !element('notice').hidden && prompt.hidden)
		return notice('');
	if (event.key === 'Escape' && hasTrace && !element('empty').hidden)
		return leaveList();
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

// Handles keys that the viewer does not use.
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
element('notice-close').addEventListener('click', () => {
	notice('');
	canvas.focus({ preventScroll: true });
});
element('stop').addEventListener('click', () => worker.postMessage(['stop']));
element('controls').addEventListener('keydown', event => {
	const side = { ArrowLeft: 'left', ArrowRight: 'right' }[event.key];
	if (event.target.matches('[role=slider]') && side && !event.ctrlKey && !event.metaKey && !event.altKey) {
		event.preventDefault();
		input('command', `${event.target.dataset.command} ${side}`, now());
	}
});
element('choose').addEventListener('click', () => element('file').click());
