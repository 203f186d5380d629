(* SPDX-License-Identifier: ISC

   The interface of mirage-profile 0.9, on weft: libraries that have notes for it compile unchanged. *)

module P = Weft_lwt_promise
module Lwt = Weft_lwt.Lwt

module Trace = struct
  type hiatus_reason = Wait_for_work | Suspend | Hibernate
  type log_buffer = Weft.buffer

  (* Weft has its own clock. *)
  type timestamper = log_buffer -> int -> unit

  let label text = if !P.on then Weft.label P.category Weft.info Weft.current_task text

  (* A promise with a name is one that should end. *)
  let named name ((promise, _) as pair) =
    if !P.on then begin
      let id = P.id_of promise in
      Weft.label P.category Weft.info id name;
      Weft.expect P.category Weft.info id
    end;
    pair

  let named_wait name = named name (Lwt.wait ())
  let named_task name = named name (Lwt.task ())
  let named_condition (_ : string) = Lwt_condition.create ()
  let named_mvar_empty (_ : string) = Lwt_mvar.create_empty ()
  let named_mvar (_ : string) value = Lwt_mvar.create value

  let should_resolve promise =
    if !P.on && P.is_pending promise then Weft.expect P.category Weft.info (P.id_of promise)

  let names : (string, Weft.text) Hashtbl.t = Hashtbl.create 7

  let kept name =
    match Hashtbl.find_opt names name with
    | Some text -> text
    | None ->
      let text = Weft.keep name in
      Hashtbl.add names name text;
      text

  let note_increase name change = Weft.counter_add P.category Weft.info Weft.current_task (kept name) change
  let note_counter_value name value = Weft.counter_set P.category Weft.info Weft.current_task (kept name) value

  let reason = function
    | Wait_for_work -> kept "wait for work"
    | Suspend -> kept "suspend"
    | Hibernate -> kept "hibernate"

  (* The reason of the band that is open. *)
  let hiatus = ref None

  let note_resume () =
    Option.iter (fun text -> Weft.band 0 text false) !hiatus;
    hiatus := None

  let note_hiatus why =
    note_resume ();
    let text = reason why in
    hiatus := Some text;
    Weft.band 0 text true

  module Control = struct
    type t = log_buffer

    let make buffer (_ : timestamper) = buffer

    let start buffer =
      let error = Weft.start buffer in
      if error <> 0 then failwith (Printf.sprintf "MProf: weft does not record into this buffer (%d)" error);
      P.look ()

    let stop (_ : t) =
      Weft.stop ();
      P.look ()
  end
end

module Counter = struct
  type t = { name : Weft.text; mutable value : int }

  let report counter = Weft.counter_set P.category Weft.info Weft.current_task counter.name counter.value

  let create ?(init = 0) ~name () =
    let counter = { name = Trace.kept name; value = init } in
    report counter;
    counter

  let make ~name = create ~name ()
  let value counter = counter.value

  let set_value counter value =
    counter.value <- value;
    report counter

  let increase counter change = set_value counter (counter.value + change)
end
