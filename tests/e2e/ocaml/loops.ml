(* SPDX-License-Identifier: ISC

   Loops that could go on for ever need no more memory with each turn. Prints what each kind of loop kept. *)

open Lwt.Infix

let rec binds turns = if turns = 0 then Lwt.return_unit else Lwt.pause () >>= fun () -> binds (turns - 1)

let rec tries turns =
  Lwt.catch
    (fun () -> Lwt.pause () >>= fun () -> if turns = 0 then Lwt.return_unit else Lwt.fail Exit)
    (fun _ -> tries (turns - 1))

let stop, stopper = Lwt.wait ()

let rec picks turns =
  if turns = 0 then Lwt.return_unit else Lwt.pick [ stop; Lwt.pause () ] >>= fun () -> picks (turns - 1)

let live_words () =
  Gc.compact ();
  (Gc.stat ()).Gc.live_words

(* Measured at the end of the loop, while its promise is still pending. *)
let kept loop turns =
  let before = live_words () in
  Lwt_main.run (loop turns >|= fun () -> live_words () - before)

let () =
  List.iter
    (fun (name, loop) ->
      ignore (kept loop 10);
      let words = kept loop 20000 in
      Printf.printf "%s: %s\n" name (if words < 2000 then "nothing" else Printf.sprintf "%d words" words))
    [ ("binds", binds); ("tries", tries); ("picks", picks) ];
  Lwt.wakeup stopper ()
