// SPDX-License-Identifier: ISC
//
// The text of an error, without a call of the program's code: its properties may be getters, and proxies see who asks.
'use strict';

const {isNativeError, isProxy} = require('util').types;
const {getOwnPropertyDescriptor, getPrototypeOf} = Object;
// Of exceptions of the DOM, which node 18 and 20 do not make as errors: these getters are node's own.
const exceptions = DOMException.prototype;
const ofException = {
	name: getOwnPropertyDescriptor(exceptions, 'name').get, message: getOwnPropertyDescriptor(exceptions, 'message').get,
};

const TYPES = {undefined: 'undefined', boolean: 'a boolean', number: 'a number', string: 'an empty text', symbol: 'a symbol',
	object: 'an object', function: 'a function', bigint: 'a big integer'};
const PROTOTYPES_MAX = 16;

// The value of a property, also of one that is inherited; undefined if that is not known.
function property(object, key) {
	for (let it = object, i = 0; it !== null && !isProxy(it) && i < PROTOTYPES_MAX; it = getPrototypeOf(it), i++) {
		const found = getOwnPropertyDescriptor(it, key);
		if (found !== undefined)
			return found.value;
	}
	return undefined;
}

function text(object, key) {
	const value = property(object, key);
	return typeof value === 'string' ? value : '';
}

function className(error) {
	const constructor = property(error, 'constructor');
	return typeof constructor === 'function' ? text(constructor, 'name') : '';
}

const isException = value => typeof value === 'object' && value !== null && !isProxy(value) && getPrototypeOf(value) === exceptions;

// The name or message of an error.
function part(error, key) {
	return isException(error) ? Reflect.apply(ofException[key], error, []) : text(error, key);
}

// "TypeError: x is no function", or the text of a value that is no error.
function describe(error) {
	if (!isNativeError(error) && !isException(error))
		return error === null ? 'null' : typeof error === 'string' && error !== '' ? error : TYPES[typeof error];
	const name = part(error, 'name') || className(error), message = part(error, 'message');
	return name !== '' && message !== '' ? name + ': ' + message : name || message;
}

// By such an error a call says that it was told to stop, by an AbortController or AbortSignal.timeout().
const isAbort = error => (isNativeError(error) || isException(error)) && part(error, 'name') === 'AbortError';
const isTimeout = error => isException(error) ? part(error, 'name') === 'TimeoutError' : isAbort(error) && isTimeout(property(error, 'cause'));

module.exports = {describe, isAbort, isTimeout, text};
