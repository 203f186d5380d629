(* SPDX-License-Identifier: ISC

   For which request a program with Lwt works: a context of W3C Trace Context, which Lwt's storage hands on to all
   callbacks. A program calls this where a request comes in, and where one goes out:

       Weft_lwt_context.run ~parent:(header "traceparent") "GET /" (fun () ->
         ... fetch ~headers:[ ("traceparent", Weft_lwt_context.current ()) ] ...) *)

module P = Weft_lwt_promise

let key : string Lwt.key = Lwt.new_key ()

(** The [traceparent] of the code at hand; "" without one. *)
let current () = Option.value (Lwt.get key) ~default:""

(** That of the program that started this one; "" without one. *)
let from_environment () = Option.value (Sys.getenv_opt "TRACEPARENT") ~default:""

let with_context context f = Lwt.with_value key (if context = "" then None else Some context) f

(** Runs a function as a span of that name, until its promise ends. The span belongs to [parent]; by default, to the
    code at hand. Without a valid one, it begins a new trace. While nothing is recorded, [parent] is handed on. *)
let run ?parent name f =
  let parent = match parent with Some parent -> parent | None -> current () in
  if not !P.on then with_context (Weft.context_start P.category Weft.info Weft.none parent) f
  else
    Weft_lwt.with_node
      (P.new_step (P.create Weft.Kind.task))
      (fun node ->
        Weft.label P.category Weft.info node.P.id name;
        with_context
          (Weft.context_start P.category Weft.info node.P.id parent)
          (fun () -> Lwt.catch (fun () -> Weft_lwt.first_step node f) (fun error -> Weft_lwt.step node Lwt.fail error)))
