// SPDX-License-Identifier: ISC
// Runs a WebAssembly program with only standard input, standard output and arguments of WASI: a
// program that imports a clock, files or random numbers does not start.
//
//     node wasi.mjs PROGRAM.wasm ARGUMENT… <INPUT >OUTPUT
import {readFileSync, writeSync} from 'node:fs';

const [path, ...rest] = process.argv.slice(2);
const args = [path, ...rest].map(text => Buffer.from(text + '\0'));
const input = readFileSync(0);
let position = 0;
let memory;

const view = () => new DataView(memory.buffer);
const vectors = (list, count) => Array.from({length: count}, (_, i) => new Uint8Array(memory.buffer,
    view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)));

function writeAll(fd, bytes) {
    for (let done = 0; done < bytes.length;) {
        try {
            done += writeSync(fd, bytes, done);
        } catch (error) {
            if (error.code !== 'EAGAIN')
                throw error;
        }
    }
}

const BAD_DESCRIPTOR = 8, NOT_A_FILE = 70, CHARACTER_DEVICE = 2;
const system = {
    fd_read(fd, list, count, ret) {
        if (fd !== 0)
            return BAD_DESCRIPTOR;
        let total = 0;
        for (const into of vectors(list, count)) {
            const part = input.subarray(position, position + into.length);
            into.set(part);
            position += part.length;
            total += part.length;
        }
        view().setUint32(ret, total, true);
        return 0;
    },
    fd_write(fd, list, count, ret) {
        if (fd !== 1 && fd !== 2)
            return BAD_DESCRIPTOR;
        const bytes = Buffer.concat(vectors(list, count));
        writeAll(fd, bytes);
        view().setUint32(ret, bytes.length, true);
        return 0;
    },
    fd_fdstat_get(fd, ret) {
        if (fd > 2)
            return BAD_DESCRIPTOR;
        new Uint8Array(memory.buffer, ret, 24).fill(0);
        view().setUint8(ret, CHARACTER_DEVICE);
        return 0;
    },
    fd_close: () => 0,
    fd_seek: () => NOT_A_FILE,
    args_sizes_get(count, size) {
        view().setUint32(count, args.length, true);
        view().setUint32(size, args.reduce((sum, arg) => sum + arg.length, 0), true);
        return 0;
    },
    args_get(pointers, bytes) {
        for (const arg of args) {
            view().setUint32(pointers, bytes, true);
            new Uint8Array(memory.buffer, bytes, arg.length).set(arg);
            pointers += 4;
            bytes += arg.length;
        }
        return 0;
    },
    proc_exit: status => process.exit(status),
};

const {instance} = await WebAssembly.instantiate(readFileSync(path), {wasi_snapshot_preview1: system});
memory = instance.exports.memory;
instance.exports._start();
