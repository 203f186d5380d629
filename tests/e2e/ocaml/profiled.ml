(* SPDX-License-Identifier: ISC

   The interface of mirage-profile: a buffer in a file, and a library's notes. *)
open Lwt.Infix

let requests = MProf.Counter.make ~name:"requests"
let bytes = MProf.Counter.create ~init:7 ~name:"bytes" ()

let is_crash = Array.mem "crash" Sys.argv

(* A program that never stops recording has no use for the buffer after this. *)
let start () =
  let buffer = MProf_unix.mmap_buffer ~size:1000000 Sys.argv.(1) in
  let control = MProf.Trace.Control.make buffer MProf_unix.timestamper in
  MProf.Trace.Control.start control;
  if is_crash then None else Some control

let () =
  let control = start () in
  Gc.full_major ();
  let bob, wake_bob = MProf.Trace.named_wait "Bob" and fred, wake_fred = MProf.Trace.named_task "Fred" in
  let last, _ = MProf.Trace.named_wait "never" in
  MProf.Trace.should_resolve last;
  let both = bob >>= fun () -> MProf.Trace.label "served"; fred in
  MProf.Counter.increase requests 1;
  MProf.Counter.set_value bytes (MProf.Counter.value bytes + 1);
  MProf.Trace.note_increase "old" 2;
  MProf.Trace.note_counter_value "old" 5;
  MProf.Trace.note_hiatus MProf.Trace.Wait_for_work;
  MProf.Trace.note_resume ();
  ignore (MProf.Trace.named_condition "condition" : unit Lwt_condition.t);
  ignore (MProf.Trace.named_mvar "mvar" 1 : int Lwt_mvar.t);
  ignore (MProf.Trace.named_mvar_empty "mvar" : int Lwt_mvar.t);
  Lwt.wakeup wake_bob ();
  Lwt.wakeup wake_fred ();
  ignore (both : unit Lwt.t);
  if is_crash then Unix.kill (Unix.getpid ()) Sys.sigkill;
  Option.iter MProf.Trace.Control.stop control
