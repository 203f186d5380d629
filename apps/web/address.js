// SPDX-License-Identifier: ISC
//
// The address contains the view, so that copying it copies the view: "#view&start=12ms&duration=3ms". That of a frame is
// its attribute.
// On a server it also names the trace: "#trace=ID&view&…".

// Mail and chat programs write %26 for & and %3D for =. Then all of the address is written in that way, so it is read once; what
// a value of ours escapes has been escaped a second time.
function linkText() {
	const text = frame ? frame.dataset.view.replace(/^[^#]*#/, '') : location.hash.slice(1);
	if (!/^\w+%(26|3D)/i.test(text))
		return text;
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

// The theme that the user has chosen here takes precedence over the one in the address.
const themeOfLink = () => (/[#&]theme=([\w-]+)/.exec('#' + linkText()) || [])[1] || '';
let givenTheme = themeOfLink();
const linkOf = view => '#' + (source.id ? `trace=${source.id}&` : '') + view.replaceAll(' ', '&') +
	(givenTheme && !stored('weft theme') ? '&theme=' + givenTheme : '');

// Anybody can write a link, and opening one is not consent: only those commands of the viewer are run that change nothing but
// the view. `#mark` would store a bookmark, `#theme&dark` the theme, `#export&png` a file.
const commandOfLink = () => linkText().replace(/^trace=\w*&?/, '').replaceAll('&', ' ');
const isView = command => /^(view|fit)( |$)/.test(command);

function viewOfLink() {
	const view = commandOfLink();
	if (!isView(view))
		return '';
	return stored('weft theme') ? view.replace(/ theme=[\w-]+/, '') : view;
}

function refusalOfLink() {
	const command = commandOfLink();
	return !command || isView(command) ? '' :
		`The address asks for “${command.slice(0, 100)}”. A link may only choose the view, so nothing else was done.`;
}
const traceOfLink = () => (/^trace=(\w+)/.exec(linkText()) || [])[1];

function keepLink(text) {
	window.weft.link = text;
	if (frame || linkTimer || !hasTrace) // a trace that grows changes the view all the time
		return;
	linkTimer = setTimeout(() => {
		linkTimer = 0;
		try {
			if (hasTrace)
				history.replaceState(null, '', linkOf(window.weft.link));
		} catch { /* too often for this browser */ }
	}, 400);
}

addEventListener('hashchange', () => {
	givenTheme = themeOfLink();
	notice(refusalOfLink());
	if (traceOfLink() !== source.id)
		showTraces();
	else if (viewOfLink())
		input('command', viewOfLink(), now());
});
