(* SPDX-License-Identifier: ISC

   A host asks for the hardware address of another one, as ARP does, and waits for the reply.

       arp good             the query is in the table before its packet is sent
       arp lost             it comes into the table later: a reply that is faster finds nobody
       arp lost timeout     the same, but the caller waits for 50 ms only *)

open Lwt.Infix

let queries : (string, string Lwt.u) Hashtbl.t = Hashtbl.create 7

let input ip mac =
  match Hashtbl.find_opt queries ip with
  | None -> MProf.Trace.label ("nobody asks for " ^ ip)
  | Some query ->
    Hashtbl.remove queries ip;
    Lwt.wakeup_later query mac

(* The network: the other host answers at once. *)
let send_request ip =
  Lwt.async (fun () ->
      MProf.Trace.label "input";
      Lwt.pause () >|= fun () -> input ip "00:16:3e:00:00:02")

let query ~is_early ip =
  let reply, waker = MProf.Trace.named_task ("ARP response " ^ ip) in
  if is_early then Hashtbl.add queries ip waker;
  send_request ip;
  (if is_early then Lwt.return_unit else Lwt.pause () >>= Lwt.pause) >>= fun () ->
  if not is_early then Hashtbl.add queries ip waker;
  reply

let () =
  let has word = Array.mem word Sys.argv in
  let answer = query ~is_early:(has "good") "10.0.0.2" >|= fun mac -> "10.0.0.2 is at " ^ mac in
  if has "timeout" then
    let no_answer = Lwt_unix.sleep 0.05 >|= fun () -> "no answer" in
    print_endline (Lwt_main.run (Lwt.pick [ answer; no_answer ]))
  else begin
    Lwt.on_success answer print_endline;
    Lwt_main.run (Lwt_unix.sleep 0.02)
  end
