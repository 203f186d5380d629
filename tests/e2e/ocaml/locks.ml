(* SPDX-License-Identifier: ISC

   Mutexes and conditions: `locks circle` takes two mutexes in opposite order, under a time-out; `locks early` waits
   for a condition that was signalled before; `locks sound` does the same in order. *)

open Lwt.Infix

(* Goes on when both have come here. *)
let meeting () =
  let arrived = ref 0 and all, all_are_here = Lwt.wait () in
  fun () ->
    incr arrived;
    if !arrived = 2 then Lwt.wakeup_later all_are_here ();
    all

let transfer meet first second =
  Lwt_mutex.with_lock first (fun () -> meet () >>= fun () -> Lwt_mutex.with_lock second Lwt.return)

let circle () =
  let a = Lwt_mutex.create () and b = Lwt_mutex.create () and meet = meeting () in
  Lwt.pick [ Lwt_unix.sleep 0.6; Lwt.join [ transfer meet a b; transfer meet b a ] ]

let early () =
  let ready = Lwt_condition.create () in
  Lwt_condition.signal ready ();
  Lwt.pause () >>= fun () -> Lwt.pick [ Lwt_unix.sleep 0.6; Lwt_condition.wait ready ]

let rounds = 50

let sound () =
  let mutex = Lwt_mutex.create () and ready = Lwt_condition.create () and queue = Queue.create () in
  let rec take () =
    if Queue.is_empty queue then Lwt_condition.wait ~mutex ready >>= take else Lwt.return (Queue.pop queue)
  in
  let rec consume sum round =
    if round = rounds then Lwt.return (Printf.printf "%d\n" sum)
    else Lwt_mutex.with_lock mutex take >>= fun item -> Lwt.pause () >>= fun () -> consume (sum + item) (round + 1)
  in
  let put item () =
    Queue.push item queue;
    Lwt_condition.signal ready ();
    Lwt.return_unit
  in
  let rec produce round =
    if round = rounds then Lwt.return_unit
    else
      Lwt_mutex.with_lock mutex (put round) >>= Lwt.pause >>= Lwt.pause >>= Lwt.pause >>= fun () -> produce (round + 1)
  in
  let fails () = Lwt.catch (fun () -> Lwt_mutex.with_lock mutex (fun () -> raise Exit)) (fun _ -> Lwt.return_unit) in
  let cancelled () =
    Lwt_mutex.with_lock mutex (fun () ->
        let waiter = Lwt_mutex.lock mutex in
        Lwt.cancel waiter;
        Lwt.return_unit)
  in
  Lwt.join [ consume 0 0; produce 0 ] >>= fails >>= cancelled >|= fun () -> assert (not (Lwt_mutex.is_locked mutex))

let () = Lwt_main.run (match Sys.argv.(1) with "circle" -> circle () | "early" -> early () | _ -> sound ())
