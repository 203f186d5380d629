(* SPDX-License-Identifier: ISC

   Buffers in files: readers open such a file while the program runs, and after a crash. *)

type log_buffer = MProf.Trace.log_buffer

let timestamper (_ : log_buffer) (_ : int) = ()

let mmap_buffer ~size path : log_buffer =
  let file = Unix.openfile path [ Unix.O_RDWR; Unix.O_CREAT; Unix.O_TRUNC; Unix.O_CLOEXEC ] 0o644 in
  Fun.protect
    ~finally:(fun () -> Unix.close file)
    (fun () ->
      Bigarray.array1_of_genarray (Unix.map_file file Bigarray.char Bigarray.c_layout true [| size |]))
