(* SPDX-License-Identifier: ISC

   A loop whose third turn waits for ever. *)

open Lwt.Infix

let reply, _ = MProf.Trace.named_task "reply that never comes"

let rec serve turns =
  Lwt.pause () >>= fun () ->
  MProf.Trace.label "request";
  (if turns = 0 then reply else Lwt.pause ()) >>= fun () -> serve (turns - 1)

let () =
  let served = serve 2 in
  Lwt.on_success served print_endline;
  Lwt_main.run (Lwt_unix.sleep 0.02)
