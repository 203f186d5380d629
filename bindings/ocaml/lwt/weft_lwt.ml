(* SPDX-License-Identifier: ISC

   Stands in front of Lwt: with `-open Weft_lwt`, a program that nobody edited records its promises. All types are
   Lwt's own, so libraries that were compiled without this module go on as before; their promises have a task from
   the time at which a function from here first sees them.

   Every function calls Lwt's own at once while nothing is recorded. *)

module P = Weft_lwt_promise

let on = P.on

(* Runs a callback as the task, which reads what it waited for. *)
let resume node f value =
  P.run node;
  match f value with
  | result ->
    P.leave ();
    result
  | exception error ->
    P.leave ();
    raise error

(* The same for a callback that returns a promise. *)
let step node f value =
  P.run node;
  match f value with
  | promise ->
    P.continue_with node promise;
    P.leave ();
    promise
  | exception error ->
    P.leave ();
    raise error

let bind_pending lwt_bind promise f =
  let node = P.new_step (P.create Weft.Kind.bind) in
  P.wait_for node promise;
  let bound = lwt_bind promise (fun value -> step node f value) in
  P.put_node node bound;
  bound

let map_pending f promise =
  let node = P.new_node (P.create Weft.Kind.map) in
  P.wait_for node promise;
  let mapped = Lwt.map (fun value -> resume node f value) promise in
  P.put_node node mapped;
  mapped

(* Makes a promise with a task that is there before it. *)
let with_node node go =
  let promise = go node in
  P.put_node node promise;
  promise

(* Runs a function at once, as the task, which then waits for its promise. *)
let first_step node f =
  P.enter node.P.id;
  match f () with
  | promise ->
    P.leave ();
    P.wait_for node promise;
    promise
  | exception error ->
    P.leave ();
    raise error

(* catch, try_bind, finalize: [f] runs at once, as the task; the other functions when its promise has ended. *)
let try_with go f =
  with_node (P.new_step (P.create Weft.Kind.try_)) (fun node -> go (fun () -> first_step node f) node)

let catch_with lwt_catch f h =
  if not !on then lwt_catch f h else try_with (fun first node -> lwt_catch first (fun e -> step node h e)) f

let try_bind_with lwt_try_bind f g h =
  if not !on then lwt_try_bind f g h
  else try_with (fun first node -> lwt_try_bind first (fun v -> step node g v) (fun e -> step node h e)) f

let finalize_with lwt_finalize f g =
  if not !on then lwt_finalize f g else try_with (fun first node -> lwt_finalize first (fun () -> step node g ())) f

(* A task that waits for several: for all of them, or for the first. *)
let many kind wait_for_all go promises =
  let result = go promises in
  if !on && P.is_pending result then begin
    let sources = List.filter_map (fun p -> if P.is_pending p then Some (Obj.repr p, P.node_of p) else None) promises in
    let task = P.create kind in
    if wait_for_all then List.iter (fun (_, node) -> P.try_read task node.P.id) sources
    else
      Weft.wait_any P.category Weft.info task (Array.of_list (List.map (fun (_, node) -> node.P.id) sources));
    let read_ended _ =
      P.enter task;
      List.iter
        (fun (promise, node) ->
          if not (P.is_pending promise) then begin
            P.settle_as promise node;
            P.read task node.P.id
          end)
        sources;
      P.leave ()
    in
    (P.adopt task result).P.finish <- P.Does read_ended
  end;
  result

let all_of go promises = many Weft.Kind.join true go promises
let first_of kind go promises = many kind false go promises

(* A pick cancels the other promises when the first one has ended, and its task does what Lwt does then. As Lwt calls
   the callback first that was added last, that of [winner] runs before it. *)
let pick_of go promises =
  let are_pending = !on && List.for_all P.is_pending promises in
  let result = first_of Weft.Kind.pick go promises in
  if are_pending && P.is_pending result then begin
    let nodes = List.map (fun promise -> (promise, P.node_of promise)) promises and node = P.node_of result in
    let before () =
      match List.find_opt (fun (promise, _) -> not (P.is_pending promise)) nodes with
      | None -> ()
      | Some (promise, winner) -> (
        P.settle_as promise winner;
        match P.outcome_of (Obj.repr promise) with
        | Error Lwt.Canceled -> () (* then another one cancels them all *)
        | _ -> P.picks := Some { P.result = Obj.repr result; node; winner; has_read = false; outer = !P.picks })
    in
    Lwt.on_termination (Lwt.choose promises) before
  end;
  result

let text_pause = Weft.keep "pause"
let text_lock = Weft.keep "lock"
let text_with_lock = Weft.keep "with_lock"
let text_condition = Weft.keep "condition"

module Real = Lwt

module Lwt = struct
  include Lwt

  let bind promise f = if !on && P.is_pending promise then bind_pending Lwt.bind promise f else Lwt.bind promise f

  let backtrace_bind add promise f =
    if !on && P.is_pending promise then bind_pending (Lwt.backtrace_bind add) promise f
    else Lwt.backtrace_bind add promise f

  let map f promise = if !on && P.is_pending promise then map_pending f promise else Lwt.map f promise

  let catch f h = catch_with Lwt.catch f h
  let backtrace_catch add f h = catch_with (Lwt.backtrace_catch add) f h
  let try_bind f g h = try_bind_with Lwt.try_bind f g h
  let backtrace_try_bind add f g h = try_bind_with (Lwt.backtrace_try_bind add) f g h
  let finalize f g = finalize_with Lwt.finalize f g
  let backtrace_finalize add f g = finalize_with (Lwt.backtrace_finalize add) f g
  let join promises = all_of Lwt.join promises
  let all promises = all_of Lwt.all promises
  let choose promises = first_of Weft.Kind.choose Lwt.choose promises
  let nchoose promises = first_of Weft.Kind.choose Lwt.nchoose promises
  let nchoose_split promises = first_of Weft.Kind.choose Lwt.nchoose_split promises
  let pick promises = pick_of Lwt.pick promises
  let npick promises = pick_of Lwt.npick promises

  let both a b =
    let hidden : _ Lwt.t -> unit Lwt.t = Obj.magic in
    if not !on then Lwt.both a b else all_of (fun _ -> Lwt.both a b) [ hidden a; hidden b ]

  let made kind ((promise, _) as pair) =
    P.put_node (P.new_node (P.create kind)) promise;
    pair

  let wait () = if !on then made Weft.Kind.wait (Lwt.wait ()) else Lwt.wait ()
  let task () = if !on then made Weft.Kind.task (Lwt.task ()) else Lwt.task ()

  let cancel promise =
    if !on then P.see_last ();
    Lwt.cancel promise

  let pause () =
    let promise = Lwt.pause () in
    P.label promise text_pause;
    promise

  (* Who wakes a promise ends it, also if its callbacks run later. *)
  let ends resolver outcome =
    P.end_with (P.node_of_resolver resolver) outcome;
    P.see_last ()

  let wakeup resolver value =
    if !on then ends resolver (Ok ());
    Lwt.wakeup resolver value

  let wakeup_exn resolver error =
    if !on then ends resolver (Error error);
    Lwt.wakeup_exn resolver error

  let wakeup_result resolver result =
    if !on then ends resolver result;
    Lwt.wakeup_result resolver result

  let wakeup_later resolver value =
    if !on then ends resolver (Ok ());
    Lwt.wakeup_later resolver value

  let wakeup_later_exn resolver error =
    if !on then ends resolver (Error error);
    Lwt.wakeup_later_exn resolver error

  let wakeup_later_result resolver result =
    if !on then ends resolver result;
    Lwt.wakeup_later_result resolver result

  (* Its promise may be ended or shared, so the work has a task of its own. *)
  let in_async f =
    let task = P.create Weft.Kind.async in
    P.enter task;
    match f () with
    | promise ->
      let source = P.node_of promise in
      let reads () =
        if source != P.no_node then P.read task source.P.id
      in
      if source != P.no_node then P.try_read task source.P.id;
      P.leave ();
      Lwt.on_any promise
        (fun () -> P.settle source; P.enter task; reads (); P.resolve task task; P.leave ())
        (fun error ->
          P.end_with source (Error error);
          P.enter task;
          reads ();
          P.fail task (Printexc.to_string error);
          P.leave ());
      promise
    | exception error ->
      P.fail task (Printexc.to_string error);
      P.leave ();
      raise error

  let async f = if !on then Lwt.async (fun () -> in_async f) else Lwt.async f
  let dont_wait f h = if !on then Lwt.dont_wait (fun () -> in_async f) h else Lwt.dont_wait f h

  module Infix = struct
    let ( >>= ) = bind
    let ( >|= ) promise f = map f promise
    let ( <?> ) a b = choose [ a; b ]
    let ( <&> ) a b = join [ a; b ]
    let ( =<< ) f promise = bind promise f
    let ( =|< ) = map

    module Let_syntax = struct
      let return = Lwt.return
      let map promise ~f = map f promise
      let bind promise ~f = bind promise f
      let both = both

      module Open_on_rhs = struct end
    end
  end

  let ( >>= ) = Infix.( >>= )
  let ( >|= ) = Infix.( >|= )
  let ( <?> ) = Infix.( <?> )
  let ( <&> ) = Infix.( <&> )
  let ( =<< ) = Infix.( =<< )
  let ( =|< ) = Infix.( =|< )

  module Let_syntax = struct
    include Infix
    module Let_syntax = Infix.Let_syntax
  end

  module Syntax = struct
    let ( let* ) = bind
    let ( and* ) = both
    let ( let+ ) promise f = map f promise
    let ( and+ ) = both
  end
end

(* A condition is a list of waiters, a mutex has one. Lwt reads two fields of a list's head; ours has a third one, its
   task, and a fourth one, the task that holds it. One that a library has made has neither. *)
module Head = struct
  let lwt_fields = 2

  (* The head of an empty list is a block whose two fields are the block itself. *)
  let is_empty head =
    Obj.is_block head && Obj.size head = lwt_fields && Obj.field head 0 == head && Obj.field head 1 == head

  let create kind =
    let head = Obj.new_block 0 (lwt_fields + 2) in
    Obj.set_field head 0 head;
    Obj.set_field head 1 head;
    Obj.set_field head lwt_fields (Obj.repr (P.create kind));
    Obj.set_field head (lwt_fields + 1) (Obj.repr Weft.none);
    head

  let get head field = if Obj.size head > lwt_fields then (Obj.obj (Obj.field head field) : int) else Weft.none
  let task_of head = get head lwt_fields
  let holder_of head = get head (lwt_fields + 1)

  let acquire head holder =
    Obj.set_field head (lwt_fields + 1) (Obj.repr holder);
    Weft.acquire P.category Weft.info holder (task_of head)

  let release head holder = Weft.release P.category Weft.info holder (task_of head)
end

(* A mutex is a resource with holders: a task of kind lock. *)
module Lwt_mutex = struct
  include Lwt_mutex

  let create () =
    let mutex = Lwt_mutex.create () in
    let block = Obj.repr mutex in
    if !on && Obj.size block = 2 && Head.is_empty (Obj.field block 1) then
      Obj.set_field block 1 (Head.create Weft.Kind.lock);
    mutex

  let head_of mutex = Obj.field (Obj.repr (mutex : Lwt_mutex.t)) 1
  let has_task mutex = !on && Head.task_of (head_of mutex) <> Weft.none

  (* The promise holds the mutex if no [holder] is given. *)
  let wait_to_lock ?holder mutex =
    with_node (P.new_node (P.create Weft.Kind.task)) (fun node ->
        let head = head_of mutex and task = node.P.id in
        Weft.label_kept P.category Weft.info task text_lock;
        P.try_read task (Head.task_of head);
        node.P.finish <- P.Does (fun is_locked -> if is_locked then Head.acquire head (Option.value holder ~default:task));
        Lwt_mutex.lock mutex)

  let lock mutex =
    if not (has_task mutex) then Lwt_mutex.lock mutex
    else if Lwt_mutex.is_locked mutex then wait_to_lock mutex
    else begin
      Head.acquire (head_of mutex) (Weft.current ());
      Lwt_mutex.lock mutex
    end

  let unlock mutex =
    if has_task mutex && Lwt_mutex.is_locked mutex then Head.release (head_of mutex) Weft.current_task;
    Lwt_mutex.unlock mutex

  (* One task takes the mutex, works with it and releases it, so a deadlock is a circle of such tasks. *)
  let with_task mutex f =
    with_node (P.new_step (P.create Weft.Kind.try_)) (fun node ->
        let head = head_of mutex and holder = node.P.id in
        let release () =
          if Lwt_mutex.is_locked mutex then Head.release head holder;
          Lwt_mutex.unlock mutex;
          Lwt.return_unit
        in
        let take () =
          Head.acquire head holder;
          ignore (Lwt_mutex.lock mutex : unit Lwt.t);
          f ()
        in
        Weft.label_kept P.category Weft.info holder text_with_lock;
        if Lwt_mutex.is_locked mutex then
          Real.bind
            (first_step node (fun () -> wait_to_lock ~holder mutex))
            (step node (fun () -> Lwt.finalize f release))
        else Real.finalize (fun () -> first_step node take) (step node release))

  let with_lock mutex f =
    if has_task mutex then with_task mutex f
    else Lwt.bind (lock mutex) (fun () -> Lwt.finalize f (fun () -> unlock mutex; Lwt.return_unit))
end

module Lwt_condition = struct
  include Lwt_condition

  let create () =
    let condition = Lwt_condition.create () in
    if !on && Head.is_empty (Obj.repr condition) then Obj.obj (Head.create Weft.Kind.condition) else condition

  let task_of condition = if !on then Head.task_of (Obj.repr condition) else Weft.none

  (* Lwt unlocks the mutex for the time of the wait, and locks it again even if the wait is cancelled. *)
  let without_mutex mutex =
    match mutex with
    | Some mutex when Lwt_mutex.has_task mutex && Lwt_mutex.is_locked mutex ->
      let head = Lwt_mutex.head_of mutex in
      let holder = Head.holder_of head in
      Head.release head holder;
      fun () -> Head.acquire head holder
    | _ -> Fun.id

  let wait ?mutex condition =
    let task = task_of condition in
    let lock_again = without_mutex mutex in
    let promise = Lwt_condition.wait ?mutex condition in
    P.label promise text_condition;
    if task <> Weft.none && P.is_pending promise then begin
      let node = P.node_of promise in
      P.try_read node.P.id task;
      node.P.finish <-
        P.Does
          (fun is_signalled ->
            P.enter node.P.id;
            if is_signalled then P.read node.P.id task;
            lock_again ();
            P.leave ())
    end;
    promise

  let signals condition =
    let task = task_of condition in
    if task <> Weft.none then Weft.signal_only P.category Weft.info Weft.current_task task

  let signal condition value =
    signals condition;
    Lwt_condition.signal condition value

  let broadcast condition value =
    signals condition;
    Lwt_condition.broadcast condition value

  let broadcast_exn condition error =
    signals condition;
    Lwt_condition.broadcast_exn condition error
end
