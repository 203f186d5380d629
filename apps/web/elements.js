// SPDX-License-Identifier: ISC
//
// The page passes input to the worker, replays its canvas lists, and shows its panel and its prompt as the
// browser's own widgets; the worker decides what anything means. These files become one script, in the
// order in assets.py; this is the first of the viewer itself, with what all of them use.

const FONT = 'system-ui, "DejaVu Sans", sans-serif'; // as in worker.js
const THEMES = named('THEME_', { LIGHT: 'light', DARK: 'dark', SAFE: 'safe', SAFE_DARK: 'safe-dark' });
const element = id => document.getElementById(id);
const canvas = element('canvas'), pen = canvas.getContext('2d', { alpha: false });
const stage = element('stage'), panel = element('panel'), prompt = element('prompt');
