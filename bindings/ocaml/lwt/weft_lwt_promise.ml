(* SPDX-License-Identifier: ISC

   Which promise is which task.

   A promise of Lwt is a block with one mutable field, its state. A pending one's state is a block that holds the
   record of its callbacks: four mutable fields, which Lwt reads by position and never copies as a whole. We replace
   that record, once, by a copy with a fifth field: our node. So each pending promise gets an id when we first see it,
   also one that Lwt itself or a library has made; nothing is kept longer than the promise, and no type changes.

   [check] tries this at start with the Lwt that is linked. *)

external init : unit -> unit = "weft_lwt_init" [@@noalloc]
external category : unit -> (int [@untagged]) = "weft_lwt_category_byte" "weft_lwt_category" [@@noalloc]
external idle : unit -> unit = "weft_lwt_idle" [@@noalloc]
external awake : unit -> unit = "weft_lwt_awake" [@@noalloc]
external create : (int [@untagged]) -> (int [@untagged]) = "weft_lwt_create_byte" "weft_lwt_create" [@@noalloc]
external enter : (int [@untagged]) -> unit = "weft_lwt_enter_byte" "weft_lwt_enter" [@@noalloc]
external leave : unit -> unit = "weft_ocaml_leave" [@@noalloc]

external read : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_read_byte" "weft_lwt_read"
  [@@noalloc]

external try_read : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_try_read_byte" "weft_lwt_try_read"
  [@@noalloc]

external resolve : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_resolve_byte" "weft_lwt_resolve"
  [@@noalloc]

external cancel : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_cancel_byte" "weft_lwt_cancel"
  [@@noalloc]

external time_out : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_time_out_byte" "weft_lwt_time_out"
  [@@noalloc]

external become : (int [@untagged]) -> (int [@untagged]) -> unit = "weft_lwt_become_byte" "weft_lwt_become"
  [@@noalloc]

external fail : int -> string -> unit = "weft_lwt_fail" [@@noalloc]

let () = init ()
let category = category ()

(* [finish] is for the time before the end: which promise this one then reads, or what is to do, which is told whether
   the promise is fulfilled. [is_timed]: it is a timer, or what it
   read last ended because of one. A step runs a callback, which may return the next step; [first] is the step whose
   task stands for all that follow it. *)
type node = {
  id : int;
  is_step : bool;
  mutable ended : bool;
  mutable is_timed : bool;
  mutable finish : finish;
  mutable first : node option;
}

and finish = Nothing | Reads of node * Obj.t | Does of (bool -> unit)

let first_of node = match node.first with Some first -> first | None -> node
let no_node = { id = Weft.none; is_step = false; ended = true; is_timed = false; finish = Nothing; first = None }
let new_node id = { no_node with id; ended = false }
let new_step id = { no_node with id; is_step = true; ended = false }

let fulfilled_tag = 0
let rejected_tag = 1
let pending_tag = 2
let proxy_tag = 3
let callback_fields = 4

(* The state's block of a pending promise, or an integer. *)
let rec pending (promise : Obj.t) : Obj.t =
  let state = Obj.field promise 0 in
  let tag = Obj.tag state in
  if tag = pending_tag then state else if tag = proxy_tag then pending (Obj.field state 0) else Obj.repr 0

let is_pending promise = Obj.is_block (pending (Obj.repr promise))

(* How a promise has ended. *)
let rec outcome_of (promise : Obj.t) =
  let state = Obj.field promise 0 in
  let tag = Obj.tag state in
  if tag = rejected_tag then Error (Obj.obj (Obj.field state 0) : exn)
  else if tag = proxy_tag then outcome_of (Obj.field state 0)
  else Ok ()

let find (state : Obj.t) : node =
  let callbacks = Obj.field state 0 in
  if Obj.size callbacks > callback_fields then (Obj.obj (Obj.field callbacks callback_fields) : node) else no_node

let put (state : Obj.t) (node : node) =
  let callbacks = Obj.field state 0 in
  let copy = Obj.new_block 0 (callback_fields + 1) in
  for i = 0 to callback_fields - 1 do
    Obj.set_field copy i (Obj.field callbacks i)
  done;
  Obj.set_field copy callback_fields (Obj.repr node);
  Obj.set_field state 0 copy

(* ---- The self-test ---- *)

let has_shape promise =
  let promise = Obj.repr promise in
  Obj.is_block promise && Obj.size promise = 1
  &&
  let state = Obj.field promise 0 in
  Obj.is_block state && Obj.tag state = pending_tag && Obj.size state = 1
  &&
  let callbacks = Obj.field state 0 in
  Obj.is_block callbacks && Obj.tag callbacks = 0 && Obj.size callbacks = callback_fields

(* A promise with a fifth field still calls its callbacks, and a proxy leads to it. *)
let check () =
  let promise, resolver = Lwt.wait () and inner, inner_resolver = Lwt.wait () in
  has_shape promise
  && begin
       let called = ref 0 in
       put (pending (Obj.repr promise)) { no_node with id = 1 };
       let bound = Lwt.bind promise (fun _ -> inner) in
       Lwt.on_success bound (fun value -> called := value);
       let bound_is_pending = has_shape bound in
       if bound_is_pending then put (pending (Obj.repr bound)) { no_node with id = 2 };
       Lwt.wakeup resolver 7;
       let through_proxy = bound_is_pending && is_pending inner && (find (pending (Obj.repr inner))).id = 2 in
       let is_fulfilled = Obj.tag (Obj.field (Obj.repr promise) 0) = fulfilled_tag in
       Lwt.wakeup inner_resolver 8;
       through_proxy && is_fulfilled && (not (is_pending promise)) && !called = 8
     end

let is_usable =
  let usable = try check () with _ -> false in
  if not usable then
    prerr_endline "weft-lwt: this Lwt keeps its promises in another way, so they are not recorded";
  usable

(* ---- Recording ---- *)

let on = ref false
let look () = on := is_usable && Weft.is_recording ()
let () = look ()

(* A pick that cancels the others, because [winner] was first, until its own promise has ended. *)
type pick = { result : Obj.t; node : node; winner : node; mutable has_read : bool; outer : pick option }

let picks : pick option ref = ref None

let rec current_pick () =
  match !picks with
  | Some pick when not (is_pending pick.result) ->
    picks := pick.outer;
    current_pick ()
  | found -> found

(* The task that wakes a promise ends it. Lwt calls the callback that was added last first: one that waits for
   the promise comes before ours, so it says so itself. *)
let rec end_with : 'a. node -> ('a, exn) result -> unit =
 fun node outcome ->
  if not node.ended then begin
    node.ended <- true;
    finish node outcome;
    match outcome with
    | Ok _ -> resolve Weft.current_task node.id
    | Error Lwt.Canceled -> end_cancelled node
    | Error error -> fail node.id (Printexc.to_string error)
  end

and end_cancelled node =
  match current_pick () with
  | None -> cancel Weft.current_task node.id
  | Some pick ->
    enter pick.node.id;
    if not pick.has_read then begin
      pick.has_read <- true;
      read pick.node.id pick.winner.id
    end;
    (if pick.winner.is_timed then time_out else cancel) Weft.current_task node.id;
    leave ()

and finish : 'a. node -> ('a, exn) result -> unit =
 fun node outcome ->
  match node.finish with
  | Nothing -> ()
  | Does act ->
    node.finish <- Nothing;
    act (Result.is_ok outcome)
  | Reads (source, promise) ->
    (* Lwt has made them one promise, and is about to end it. *)
    if is_pending promise then end_with source outcome;
    run node;
    leave ()

(* The task runs, and reads what it waited for. *)
and run node =
  let first = first_of node in
  match first.finish with
  | Reads (source, promise) ->
    first.finish <- Nothing;
    end_with source (outcome_of promise);
    first.is_timed <- source.is_timed;
    enter node.id;
    read node.id source.id
  | Nothing | Does _ -> enter node.id

let settle node = if not node.ended then end_with node (Ok ())
let settle_as promise node = if not node.ended then end_with node (outcome_of (Obj.repr promise))

(* The promise that was the last to get a node. Its end needs a callback, unless a step returns it next. *)
let last_node = ref no_node
let last_promise = ref (Obj.repr 0)

let forget_last () =
  last_node := no_node;
  last_promise := Obj.repr 0

let see_last () =
  let node = !last_node and promise : unit Lwt.t = Obj.obj !last_promise in
  if node != no_node then begin
    forget_last ();
    if is_pending promise then Lwt.on_any promise (fun _ -> settle node) (fun error -> end_with node (Error error))
    else settle_as promise node
  end

let () = at_exit see_last

(* A promise that has no node gets this one; if it has ended, so has the node's task. *)
let put_node node promise =
  see_last ();
  let state = pending (Obj.repr promise) in
  if Obj.is_block state then begin
    put state node;
    last_node := node;
    last_promise := Obj.repr promise
  end
  else settle_as promise node

(* A promise gets this task, unless it has one. *)
let adopt id promise =
  let state = pending (Obj.repr promise) in
  if Obj.is_block state then begin
    let known = find state in
    if known != no_node then known
    else begin
      let node = new_node id in
      put_node node promise;
      node
    end
  end
  else no_node

(* The promise's task; [no_node] if it has ended. *)
let node_of promise =
  let state = pending (Obj.repr promise) in
  if not (Obj.is_block state) then no_node
  else
    let node = find state in
    if node != no_node then node else adopt (create Weft.Kind.wait) promise

let id_of promise = (node_of promise).id

(* The task of [node] waits for this promise, and reads it when it ends itself. *)
let wait_for node promise =
  if is_pending promise then begin
    let source = node_of promise in
    try_read node.id source.id;
    node.finish <- Reads (source, Obj.repr promise)
  end

(* The callback of [node] returns this promise. From now on Lwt has one promise for both, so their ends need one
   callback. A program may go on so for ever: the next steps are the first one's task, and nothing is kept for each. *)
let continue_with node promise =
  if is_pending promise then begin
    let next = node_of promise in
    if next == !last_node then forget_last ();
    match node.first with
    | Some first when next.is_step && not next.ended ->
      become next.id first.id;
      next.ended <- true;
      next.first <- node.first;
      first.finish <- next.finish;
      (match next.finish with Reads (source, _) -> try_read first.id source.id | Nothing | Does _ -> ())
    | _ ->
      wait_for (first_of node) promise;
      if next.is_step then next.first <- Some next
  end

let label promise text = if !on && is_pending promise then Weft.label_kept category Weft.info (id_of promise) text

(* A resolver and its promise are one block. *)
let node_of_resolver (resolver : _ Lwt.u) =
  let state = pending (Obj.repr resolver) in
  if Obj.is_block state then find state else no_node
