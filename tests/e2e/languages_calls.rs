// SPDX-License-Identifier: ISC
// The calls of languages_calls.c, by weft_ffi.h.
use std::os::raw::{c_char, c_uint, c_void};

#[repr(C)]
struct Value {
    kind: u32,
    size: u32,
    bits: u64,
}

#[link(name = "weft")]
extern "C" {
    fn weft_ffi_category(name: *const c_char, size: usize, about: *const c_char, about_size: usize) -> *mut c_void;
    fn weft_ffi_create(category: *mut c_void, level: c_uint, task: u64, kind: u16) -> u64;
    fn weft_ffi_switch(task: u64);
    fn weft_ffi_try_read(category: *mut c_void, level: c_uint, task: u64, source: u64);
    fn weft_ffi_resolve(category: *mut c_void, level: c_uint, task: u64, target: u64);
    fn weft_ffi_fail(category: *mut c_void, level: c_uint, task: u64, target: u64, text: *const c_char, size: usize);
    fn weft_ffi_label(category: *mut c_void, level: c_uint, task: u64, text: *const c_char, size: usize, cache: *mut u64);
    fn weft_ffi_note(category: *mut c_void, level: c_uint, task: u64, text: *const c_char, size: usize, cache: *mut u64);
    fn weft_ffi_tag_value(category: *mut c_void, level: c_uint, task: u64, text: *const c_char, size: usize, cache: *mut u64, value: i64);
    fn weft_ffi_mark(category: *mut c_void, level: c_uint, task: u64, names: *const c_char, size: usize, cache: *mut u64, count: c_uint, values: *const Value);
    fn weft_ffi_notef(category: *mut c_void, level: c_uint, task: u64, format: *const c_char, size: usize, cache: *mut u64, count: c_uint, values: *const Value);
    fn weft_ffi_counter_add(category: *mut c_void, level: c_uint, task: u64, name: *const c_char, size: usize, cache: *mut u64, change: i64);
    fn weft_ffi_counter_set_f64(category: *mut c_void, level: c_uint, task: u64, name: *const c_char, size: usize, cache: *mut u64, value: f64);
    fn weft_ffi_band_begin(kind: c_uint, reason: *const c_char, size: usize, cache: *mut u64);
    fn weft_ffi_band_end(kind: c_uint, reason: *const c_char, size: usize, cache: *mut u64);
}

const CURRENT: u64 = u64::MAX - 1;
const NONE: u64 = u64::MAX;
const DEBUG: c_uint = 4;

fn text(text: &str) -> *const c_char {
    text.as_ptr() as *const c_char
}

fn main() {
    let mut cache: u64 = 0;
    let no_cache: *mut u64 = std::ptr::null_mut();
    let mark = [
        Value { kind: 1, size: 0, bits: -5i64 as u64 },
        Value { kind: 4, size: 6, bits: text("/index") as u64 },
        Value { kind: 3, size: 0, bits: 0.5f64.to_bits() },
        Value { kind: 7, size: 0, bits: 1 },
    ];
    let note = [
        Value { kind: 1, size: 0, bits: 3 },
        Value { kind: 4, size: 4, bits: text("four") as u64 },
    ];
    unsafe {
        let net = weft_ffi_category(text("net"), 3, text("connections"), 11);
        let task = weft_ffi_create(net, 0, CURRENT, 1);
        let reply = weft_ffi_create(net, 0, task, 0);
        weft_ffi_label(net, 0, task, text("accept"), 6, &mut cache);
        weft_ffi_switch(task);
        weft_ffi_try_read(net, 0, CURRENT, reply);
        weft_ffi_note(net, DEBUG, CURRENT, text("not recorded"), 12, no_cache);
        weft_ffi_mark(net, 0, CURRENT, text("request\0bytes\0path\0ratio\0is_new"), 31, no_cache, 4, mark.as_ptr());
        weft_ffi_notef(net, 0, CURRENT, text("%d of %s"), 8, no_cache, 2, note.as_ptr());
        weft_ffi_tag_value(net, 0, CURRENT, text("retry"), 5, no_cache, 2);
        weft_ffi_counter_add(net, 0, CURRENT, text("queue"), 5, no_cache, -1);
        weft_ffi_counter_set_f64(net, 0, CURRENT, text("load"), 4, no_cache, 0.75);
        weft_ffi_band_begin(0, text("poll"), 4, no_cache);
        weft_ffi_band_end(0, text("poll"), 4, no_cache);
        weft_ffi_fail(net, 0, CURRENT, reply, text("timeout"), 7);
        weft_ffi_resolve(net, 0, CURRENT, task);
        weft_ffi_switch(NONE);
    }
}
