(* SPDX-License-Identifier: ISC

   The whole interface of mirage-profile 0.9 with its Unix part; and, as its users do, a buffer in memory. *)
open Lwt

type log_buffer = (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

module type TRACE = sig
  type hiatus_reason = Wait_for_work | Suspend | Hibernate
  type timestamper = log_buffer -> int -> unit

  val label : string -> unit
  val named_wait : string -> 'a Lwt.t * 'a Lwt.u
  val named_task : string -> 'a Lwt.t * 'a Lwt.u
  val named_condition : string -> 'a Lwt_condition.t
  val named_mvar_empty : string -> 'a Lwt_mvar.t
  val named_mvar : string -> 'a -> 'a Lwt_mvar.t
  val note_increase : string -> int -> unit
  val note_counter_value : string -> int -> unit
  val should_resolve : 'a Lwt.t -> unit
  val note_hiatus : hiatus_reason -> unit
  val note_resume : unit -> unit

  module Control : sig
    type t

    val make : log_buffer -> timestamper -> t
    val start : t -> unit
    val stop : t -> unit
  end
end

module type COUNTER = sig
  type t

  val create : ?init:int -> name:string -> unit -> t
  val make : name:string -> t
  val value : t -> int
  val set_value : t -> int -> unit
  val increase : t -> int -> unit
end

module type UNIX = sig
  val timestamper : log_buffer -> int -> unit
  val mmap_buffer : size:int -> string -> log_buffer
end

module Trace : TRACE with type Control.t = MProf.Trace.Control.t = MProf.Trace
module Counter : COUNTER = MProf.Counter
module On_unix : UNIX = MProf_unix

let turn () =
  let first, wake_first = Trace.named_wait "first" in
  let second, wake_second = Trace.named_task "second" in
  let both = first >>= fun () -> second in
  Lwt.wakeup wake_first ();
  Lwt.wakeup wake_second ();
  both

let rec repeat turns = if turns = 0 then return () else turn () >>= fun () -> repeat (turns - 1)

let () =
  let buffer = Bigarray.(Array1.create char c_layout 1000001) in
  let control = Trace.Control.make buffer On_unix.timestamper in
  Trace.Control.start control;
  Lwt_main.run (repeat 100000);
  Trace.Control.stop control;
  print_endline (if Weft.is_recording () then "recording" else "stopped")
