// SPDX-License-Identifier: ISC
//
// What V8 and node take for calling hooks that do nothing: the least that any recorder costs.
'use strict';
if (process.env.FLOOR !== 'promises')
	require('async_hooks').createHook({ init() {}, before() {}, after() {}, destroy() {} }).enable();
process.noDeprecation = true;
process.binding('async_wrap').setPromiseHooks((promise, parent) => {}, promise => {}, promise => {}, promise => {});
delete process.noDeprecation;
