(* SPDX-License-Identifier: ISC

   Two requests at a time, each with a query. Prints the context of the code at hand after each turn of the loop. *)

open Lwt.Infix

let say name = Printf.printf "%s %s\n" name (Weft_lwt_context.current ())

let request ?parent name =
  Weft_lwt_context.run ?parent name (fun () ->
    Lwt.pause () >>= fun () ->
    say name;
    Weft_lwt_context.run (name ^ " query") (fun () -> Lwt.pause () >|= fun () -> say (name ^ " query")) >>= fun () ->
    Lwt.pause () >|= fun () -> say (name ^ " again"))

let fails () = Weft_lwt_context.run "fails" (fun () -> failwith "bad")
let fails_later () = Weft_lwt_context.run "fails later" (fun () -> Lwt.pause () >>= fun () -> Lwt.fail_with "worse")
let outcome name f = Lwt.catch f (function Failure text -> Lwt.return (Printf.printf "%s: %s\n" name text) | error -> Lwt.fail error)

let () =
  Lwt_main.run
    ( Lwt.join [ request ~parent:(Weft_lwt_context.from_environment ()) "first"; request "second" ] >>= fun () ->
      outcome "fails" fails >>= fun () -> outcome "fails later" fails_later );
  say "none"
