(* SPDX-License-Identifier: ISC

   What weft_lwt.ml does, for the loop and its timers: `-open Weft_lwt -open Weft_lwt_unix`. It is a library of its
   own because a program that links Lwt_unix runs a part of its scheduler at start. *)

module P = Weft_lwt_promise

let text_main = Weft.keep "main"
let text_deadline = Weft.keep "deadline"
let text_asleep = Weft.keep "asleep"
let text_listens = Weft.keep "listens"

(* True if a handler of a signal could wake the loop. *)
external may_be_signalled : unit -> bool = "weft_lwt_may_be_signalled" [@@noalloc]

(* True if the program listens for connections. *)
external listens : unit -> bool = "weft_lwt_listens" [@@noalloc]

let tag task text value = Weft.tag_value P.category Weft.info task text value

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

  (* True if nothing is left that could wake the loop: Lwt's own pipe is the one descriptor, and all threads are those
     of Lwt's pool, which have no job. *)
  let is_alone () =
    Lwt_engine.(readable_count () <= 1 && writable_count () = 0 && timer_count () = 0)
    && Lwt_unix.(wait_count () = 0 && thread_count () = thread_waiting_count ())
    && (not (may_be_signalled ()))
    && try Array.length (Sys.readdir "/proc/self/task") = 1 + Lwt_unix.thread_count () with Sys_error _ -> false

  let asleep = ref Weft.none

  let awakes () =
    if !asleep <> Weft.none then begin
      tag !asleep text_asleep 0;
      asleep := Weft.none
    end

  (* A service is ready early, also one of a library that is not seen. *)
  let looks = ref 64

  let look_for_service () =
    if !looks > 0 then begin
      decr looks;
      if listens () then begin
        looks := 0;
        tag (Weft.current ()) text_listens 1
      end
    end

  (* From here on the loop waits; the first event after that ends the band. Recording may have begun meanwhile. *)
  let before_poll promise () =
    P.look ();
    P.see_last ();
    P.picks := None;
    awakes ();
    if !P.on && Lwt.paused_count () = 0 then begin
      look_for_service ();
      if is_alone () then begin
        asleep := Weft.current ();
        if P.is_pending promise then P.try_read !asleep (P.id_of promise);
        tag !asleep text_asleep 1
      end;
      P.idle ()
    end

  let run promise =
    P.look ();
    begin_main ();
    if !P.on && P.is_pending promise then P.try_read Weft.current_task (P.id_of promise);
    let hook = Lwt_main.Enter_iter_hooks.add_first (before_poll promise) in
    let ends () =
      Lwt_main.Enter_iter_hooks.remove hook;
      P.awake ();
      awakes ()
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
      if delay >= 0. && delay < 1e9 then tag task text_deadline (int_of_float (delay *. 1e9));
      (P.adopt task promise).P.is_timed <- true
    end;
    promise

  let timeout delay = Weft_lwt.Lwt.bind (sleep delay) (fun () -> Lwt.fail Timeout)
  let with_timeout delay f = Weft_lwt.Lwt.pick [ timeout delay; Lwt.apply f () ]
end
