(* SPDX-License-Identifier: ISC

   A library that is compiled without Weft_lwt. *)
let twice promise = Lwt.bind promise (fun value -> Lwt.map (fun () -> value + value) (Lwt.pause ()))
