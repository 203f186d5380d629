(* SPDX-License-Identifier: ISC

   A promise that fails, which a callback has returned; and a loop whose third turn waits for ever. *)

open Lwt.Infix

let reply, _ = MProf.Trace.named_task "reply that never comes"

let last_turn, reach_last_turn = Lwt.wait ()

let (broken : unit Lwt.t), breaker = MProf.Trace.named_task "broken"

let rec serve turns =
  Lwt.pause () >>= fun () ->
  MProf.Trace.label "request";
  (if turns = 0 then (Lwt.wakeup_later reach_last_turn (); reply) else Lwt.pause ()) >>= fun () -> serve (turns - 1)

let () =
  let breaks = Lwt.pause () >>= fun () -> broken in
  Lwt.on_failure breaks ignore;
  Lwt_main.run (Lwt.pause () >>= Lwt.pause);
  Lwt.wakeup_exn breaker Exit;
  let served = serve 2 in
  Lwt.on_success served print_endline;
  Lwt_main.run (last_turn >>= Lwt.pause)
