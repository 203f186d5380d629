(* SPDX-License-Identifier: ISC

   Compiles if the modules have all that Lwt's have, with the same types. *)
module _ : module type of Lwt = Weft_lwt.Lwt
module _ : module type of Lwt_condition = Weft_lwt.Lwt_condition
module _ : module type of Lwt_mutex = Weft_lwt.Lwt_mutex
module _ : module type of Lwt_main = Weft_lwt_unix.Lwt_main
module _ : module type of Lwt_unix = Weft_lwt_unix.Lwt_unix

let _ : int Lwt.t -> int Weft_lwt.Lwt.t = Fun.id
let _ : Lwt_mutex.t -> Weft_lwt.Lwt_mutex.t = Fun.id
