(* SPDX-License-Identifier: ISC

   The recorder of weft, as weft_ffi.h and weft_ffi(3) describe it. Calls never allocate, block or raise.

       let net = Weft.category "net" "connections"
       let task = Weft.create net Weft.info Weft.current_task Weft.Kind.task
       let () = Weft.label net Weft.info task "accept" *)

type category = int
type level = int
type task = int
type kind = int
type text = int

(** No task; and the one that runs on this thread. *)
let none : task = -1

let current_task : task = -2

(** The category "program", which has no name in a trace. *)
let program : category = 0

let error : level = 1
let warning : level = 2
let info : level = 3
let debug : level = 4
let trace : level = 5

(** The numbers of kinds.def. *)
module Kind = struct
  let wait : kind = 0
  let task : kind = 1
  let bind : kind = 2
  let try_ : kind = 3
  let choose : kind = 4
  let pick : kind = 5
  let join : kind = 6
  let map : kind = 7
  let condition : kind = 8
  let on_success : kind = 9
  let on_failure : kind = 10
  let on_termination : kind = 11
  let on_any : kind = 12
  let ignore_result : kind = 13
  let async : kind = 14
  let promise : kind = 15
  let semaphore : kind = 16
  let switch : kind = 17
  let lock : kind = 18
  let channel : kind = 19
  let timer : kind = 20
  let pool : kind = 21
  let queue : kind = 22
  let track : kind = 23
  let thread : kind = 24
  let rwlock : kind = 25
  let unknown : kind = 99
end

(** True if calls currently record. *)
external is_recording : unit -> bool = "weft_ocaml_is_recording" [@@noalloc]

(** A part of the program, with a level of its own (weft_ffi_category). *)
external category :
  string -> string -> (category [@untagged])
  = "weft_ocaml_category_byte" "weft_ocaml_category" [@@noalloc]

(** The task that runs on this thread; [none] if there is none. *)
external current : unit -> (task [@untagged]) = "weft_ocaml_current_byte" "weft_ocaml_current" [@@noalloc]

(** [create category level task kind]: [task] creates a task, whose id is returned. *)
external create :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (kind [@untagged]) -> (task [@untagged])
  = "weft_ocaml_create_byte" "weft_ocaml_create" [@@noalloc]

(** The task runs on this thread from now on. *)
external switch : (task [@untagged]) -> unit = "weft_ocaml_switch_byte" "weft_ocaml_switch" [@@noalloc]

(** The task runs until [leave]; then the one that ran before. *)
external enter : (task [@untagged]) -> unit = "weft_ocaml_enter_byte" "weft_ocaml_enter" [@@noalloc]
external leave : unit -> unit = "weft_ocaml_leave" [@@noalloc]

(** [task] reads the value of [source], which has ended. If the call names [task], that one runs from now because a
    value usually wakes the task that waited for it. *)
external read :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_read_byte" "weft_ocaml_read" [@@noalloc]

(** [task] reads the value of [source], which has ended, and runs later. *)
external read_later :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_read_later_byte" "weft_ocaml_read_later" [@@noalloc]

(** [task] wants the value of [source], which has not ended: it begins to wait. *)
external try_read :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_try_read_byte" "weft_ocaml_try_read" [@@noalloc]

(** [task] ends [target] with a value. *)
external resolve :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_resolve_byte" "weft_ocaml_resolve" [@@noalloc]

(** [task] ends [target], which is no longer wanted. That is a problem only if another task still waits for it. A
    note on [target] can say why. *)
external cancel :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_cancel_byte" "weft_ocaml_cancel" [@@noalloc]

(** [task] ends [target], because its other side has closed it. *)
external close :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_close_byte" "weft_ocaml_close" [@@noalloc]

(** [task] ends [target], because its time is up. *)
external time_out :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_time_out_byte" "weft_ocaml_time_out" [@@noalloc]

(** [task] takes [resource], a task of kind lock, rwlock, semaphore, pool or queue. If it has to wait, a try_read before
    says so: readers then show which task holds the resource. *)
external acquire :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_acquire_byte" "weft_ocaml_acquire" [@@noalloc]

(** [task] gives [resource] back. *)
external release :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_release_byte" "weft_ocaml_release" [@@noalloc]

(** [task] turns into [target]: from now on, events of either are events of both. *)
external become :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_become_byte" "weft_ocaml_become" [@@noalloc]

(** [task] wakes [receiver], which runs at once. *)
external signal :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_signal_byte" "weft_ocaml_signal" [@@noalloc]

(** [task] wakes [receiver], which runs later. *)
external signal_only :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_signal_only_byte" "weft_ocaml_signal_only" [@@noalloc]

(** [task] sends a message to a task that it does not know: one behind a queue, or of another process, on any host.
    [key] is any number on which both sides agree: a message's id, a hash of names. Record it before the message can
    arrive, unless the key has WEFT_KEY_ONCE. *)
external send :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (int [@untagged]) -> unit
  = "weft_ocaml_send_byte" "weft_ocaml_send" [@@noalloc]

(** [task] receives the latest message with this [key] that no receive has taken, and readers of both traces show
    who sent it. Record it before the task runs, because it is why the task does. *)
external receive :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (int [@untagged]) -> unit
  = "weft_ocaml_receive_byte" "weft_ocaml_receive" [@@noalloc]

(** [task] should end. If it does not, readers show it as failed. *)
external expect :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> unit
  = "weft_ocaml_expect_byte" "weft_ocaml_expect" [@@noalloc]

(** The name of [task]; later labels are notes. *)
external label :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> string -> unit
  = "weft_ocaml_label_byte" "weft_ocaml_label" [@@noalloc]

(** A free text for [task], at this time. *)
external note :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> string -> unit
  = "weft_ocaml_note_byte" "weft_ocaml_note" [@@noalloc]

(** [task] ends another task with an error. *)
external fail :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (task [@untagged]) -> string -> unit
  = "weft_ocaml_fail_byte" "weft_ocaml_fail" [@@noalloc]

(** [task] waits for the first one that ends of up to 32 tasks. *)
external wait_any :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> task array -> unit
  = "weft_ocaml_wait_any_byte" "weft_ocaml_wait_any" [@@noalloc]

(** A text that is used often: it is stored once in a trace. Its memory is never freed. *)
external keep : string -> (text [@untagged]) = "weft_ocaml_keep_byte" "weft_ocaml_keep" [@@noalloc]
external label_kept :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> unit
  = "weft_ocaml_label_kept_byte" "weft_ocaml_label_kept" [@@noalloc]
external note_kept :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> unit
  = "weft_ocaml_note_kept_byte" "weft_ocaml_note_kept" [@@noalloc]
external tag_kept :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> unit
  = "weft_ocaml_tag_kept_byte" "weft_ocaml_tag_kept" [@@noalloc]

(** Changes a counter, or sets it. *)
external counter_add :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> (int [@untagged]) -> unit
  = "weft_ocaml_counter_add_byte" "weft_ocaml_counter_add" [@@noalloc]
external counter_set :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> (int [@untagged]) -> unit
  = "weft_ocaml_counter_set_byte" "weft_ocaml_counter_set" [@@noalloc]

(** A tag with a number. A timer's [deadline] is in how many nanoseconds it is due. *)
external tag_value :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> (text [@untagged]) -> (int [@untagged]) -> unit
  = "weft_ocaml_tag_value_byte" "weft_ocaml_tag_value" [@@noalloc]

(** [band 0 reason begins]: the thread begins to be idle, or ends. 1: a garbage collection. *)
external band :
  (int [@untagged]) -> (text [@untagged]) -> bool -> unit
  = "weft_ocaml_band_byte" "weft_ocaml_band" [@@noalloc]

external context_start_in :
  (category [@untagged]) -> (level [@untagged]) -> (task [@untagged]) -> string -> Bytes.t -> (int [@untagged])
  = "weft_ocaml_context_start_byte" "weft_ocaml_context_start" [@@noalloc]

(** [task] is a span of the trace of a [traceparent] of W3C Trace Context, or, if that is not valid, of a new trace.
    Returns its own one, for a request to another program. While nothing is recorded, that is the parent's. *)
let context_start category level task parent =
  let text = Bytes.create 56 in
  Bytes.sub_string text 0 (context_start_in category level task parent text)

type buffer = (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

external start_in : buffer -> (int [@untagged]) = "weft_ocaml_start_byte" "weft_ocaml_start" [@@noalloc]

(* Threads may still write into a buffer when recording has stopped. *)
let buffers : buffer list ref = ref []

(** Records into a buffer, which is kept from then on. 0, or a negative code of weft/error.h. *)
let start buffer =
  let error = start_in buffer in
  if error = 0 then buffers := buffer :: !buffers;
  error

external stop : unit -> unit = "weft_ocaml_stop" [@@noalloc]
