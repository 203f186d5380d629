// SPDX-License-Identifier: ISC
//
// The viewer's panel, buttons and prompt as widgets, and the page's own messages.

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
		stage.style.setProperty('--picture', width + 'px');
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
	if (!prompt.hidden)
		typeIntoLine([...answer.typed, ...takeKeys()]);
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

// Makes a focusable, named element for a button or handle of the canvas.
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

// Presses a button; focus moves to a panel that it opens.
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

// Keys that were typed before the prompt was shown: they belong into its line.
function typeIntoLine(keys) {
	const line = element('line');
	for (const key of keys) {
		const { selectionStart: start, selectionEnd: end } = line;
		if (key === 'Enter')
			return input('prompt', line.value, 1, now());
		if (key === 'Backspace')
			line.setRangeText('', Math.max(start === end ? start - 1 : start, 0), end, 'end');
		else if (/^.$/u.test(key))
			line.setRangeText(key, start, end, 'end');
	}
	if (keys.length) {
		line.focus();
		input('prompt', line.value, 0, now());
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

let damage = '';

function showDamage(facts) {
	const lines = [refusalOfLink()].filter(Boolean);
	if (facts.stopped)
		lines.push('Reading was stopped: what is shown ends there.');
	if (facts.missing.length)
		lines.push(`Left out of ${source.files.length} files:`, ...facts.missing.slice(0, 4));
	if (facts.missing.length > 4)
		lines.push(`and ${facts.missing.length - 4} more`);
	if (facts.damage.length)
		lines.push('Parts of the trace are damaged, and were left out:', ...facts.damage.slice(0, 4));
	if (facts.damage.length > 4)
		lines.push(`and ${facts.damage.length - 4} more kinds of damage: \`weft info\` lists them`);
	const isNews = lines.length > 0; // where the hosts' clocks are placed changes with each growth
	lines.push(...(facts.hosts || []));
	if (!source.isGrowth || isNews || (lines.length && !damage) || element('notice-text').textContent === damage)
		notice(lines.join('\n')); // else what was said before stays
	damage = lines.join('\n');
}
