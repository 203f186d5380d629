(* SPDX-License-Identifier: ISC

   What weft_lwt.ml does, for the loop and its timers: `-open Weft_lwt -open Weft_lwt_unix`. It is a library of its
   own because a program that links Lwt_unix runs a part of its scheduler at start. *)

module P = Weft_lwt_promise

let text_main = Weft.keep "main"
let text_deadline = Weft.keep "deadline"

(* What the program does outside of all callbacks is a task, too, if no other one runs: from its start or, where
   recording began later, from the loop's. *)
let begin_main () =
  if !P.on && Weft.current () = Weft.none then begin
    let main = P.create Weft.Kind.task in
    Weft.label_kept P.category Weft.info main text_main;
    Weft.switch main;
    at_exit (fun () ->
        P.awake ();
        P.resolve main main)
  end

let () = begin_main ()

module Lwt_main = struct
  include Lwt_main

  (* From here on the loop waits; the first event after that ends the band. Recording may have begun meanwhile. *)
  let before_poll () =
    P.look ();
    P.see_last ();
    P.picks := None;
    if !P.on && Lwt.paused_count () = 0 then P.idle ()

  let run promise =
    P.look ();
    begin_main ();
    if !P.on && P.is_pending promise then P.try_read Weft.current_task (P.id_of promise);
    let hook = Lwt_main.Enter_iter_hooks.add_first before_poll in
    let ends () =
      Lwt_main.Enter_iter_hooks.remove hook;
      P.awake ()
    in
    match Lwt_main.run promise with
    | value ->
      ends ();
      value
    | exception error ->
      ends ();
      raise error
end

module Lwt_unix = struct
  include Lwt_unix

  (* The timer's task: Lwt_unix makes the promise itself. *)
  let sleep delay =
    let promise = Lwt_unix.sleep delay in
    if !P.on && P.is_pending promise then begin
      let task = P.create Weft.Kind.timer in
      Weft.label P.category Weft.info task (Printf.sprintf "sleep %g s" delay);
      if delay >= 0. && delay < 1e9 then
        Weft.tag_value P.category Weft.info task text_deadline (int_of_float (delay *. 1e9));
      (P.adopt task promise).P.is_timed <- true
    end;
    promise

  let timeout delay = Weft_lwt.Lwt.bind (sleep delay) (fun () -> Lwt.fail Timeout)
  let with_timeout delay f = Weft_lwt.Lwt.pick [ timeout delay; Lwt.apply f () ]
end
