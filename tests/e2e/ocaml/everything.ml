(* SPDX-License-Identifier: ISC

   Each function that Weft_lwt replaces, with a result that shows what it did. *)
open Lwt.Syntax

exception Planned

let print name promise =
  let+ value = promise in
  Printf.printf "%s %d\n" name value

let later value = Lwt.map (fun () -> value) (Lwt.pause ())
let failing () = Lwt.bind (Lwt.pause ()) (fun () -> Lwt.fail Planned)
let code = function Planned -> 1 | Lwt.Canceled -> 2 | Lwt_unix.Timeout -> 3 | _ -> 4

let ends () =
  let* () = print "catch" (Lwt.catch failing (fun error -> later (code error))) in
  let* () = print "not caught" (Lwt.catch (fun () -> later 5) (fun _ -> Lwt.return 6)) in
  let* () = print "try_bind" (Lwt.try_bind (fun () -> later 7) later (fun _ -> Lwt.return 8)) in
  let count = ref 0 in
  let finally () = incr count; Lwt.pause () in
  let* () = print "finalize" (Lwt.finalize (fun () -> later 9) finally) in
  let* () = print "finalize" (Lwt.catch (fun () -> Lwt.finalize failing finally) (fun _ -> Lwt.return !count)) in
  let* () = print "raise" (Lwt.catch (fun () -> raise Planned) (fun error -> later (code error))) in
  print "in bind" (Lwt.catch (fun () -> Lwt.bind (later 1) (fun _ -> raise Planned)) (fun error -> later (code error)))

let several () =
  let* () = print "join" (Lwt.map (fun () -> 10) (Lwt.join [ Lwt.pause (); Lwt.pause () ])) in
  let* () = print "all" (Lwt.map (List.fold_left ( + ) 0) (Lwt.all [ later 1; later 2 ])) in
  let* () = print "both" (Lwt.map (fun (a, b) -> a + b) (Lwt.both (later 3) (later 4))) in
  let never, _ = Lwt.task () in
  let* () = print "pick" (Lwt.pick [ never; later 11 ]) in
  let* () = print "cancelled" (Lwt.catch (fun () -> never) (fun error -> Lwt.return (code error))) in
  let* () = print "choose" (Lwt.choose [ fst (Lwt.wait ()); later 12 ]) in
  let* () = print "npick" (Lwt.map List.length (Lwt.npick [ later 1; fst (Lwt.task ()) ])) in
  let* () = print "pick an error" (Lwt.catch (fun () -> Lwt.pick [ failing (); fst (Lwt.task ()) ]) (fun e -> Lwt.return (code e))) in
  let late () = Lwt_unix.with_timeout 0.001 (fun () -> fst (Lwt.task ())) in
  print "with_timeout" (Lwt.catch late (fun error -> Lwt.return (code error)))

let shared () =
  let mutex = Lwt_mutex.create () and condition = Lwt_condition.create () and log = ref [] in
  let work name =
    Lwt_mutex.with_lock mutex (fun () ->
        let+ () = Lwt.pause () in
        log := name :: !log)
  in
  let* () = Lwt.join [ work 1; work 2; work 3 ] in
  let* () = print "mutex" (Lwt.return (List.fold_left (fun sum it -> (10 * sum) + it) 0 !log)) in
  let waiter = Lwt_condition.wait condition in
  Lwt.async (fun () -> Lwt.map (fun () -> Lwt_condition.signal condition 13) (Lwt.pause ()));
  let* () = print "condition" waiter in
  let mvar = Lwt_mvar.create_empty () in
  Lwt.async (fun () -> Lwt.bind (Lwt.pause ()) (fun () -> Lwt_mvar.put mvar 14));
  let* () = print "mvar" (Lwt_mvar.take mvar) in
  let promise, waker = Lwt.wait () in
  Lwt.dont_wait (fun () -> Lwt.map (fun () -> Lwt.wakeup_later waker 15) (Lwt_unix.sleep 0.001)) ignore;
  print "library" (Plain_library.twice promise)

let () = Lwt_main.run (Lwt.bind (ends ()) (fun () -> Lwt.bind (several ()) shared))
