// SPDX-License-Identifier: ISC
//
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
