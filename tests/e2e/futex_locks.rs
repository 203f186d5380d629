// SPDX-License-Identifier: ISC
//
// Rust's locks and threads: three workers take turns, and one has no name of its own.
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let done = Arc::new((Mutex::new(0), Condvar::new()));
    let mut threads = Vec::new();
    for i in 0..3 {
        let done = done.clone();
        let turn = move || {
            let mut count = done.0.lock().unwrap();
            thread::sleep(Duration::from_millis(10));
            *count += 1;
            done.1.notify_all();
        };
        threads.push(thread::Builder::new().name(format!("worker-{}", i)).spawn(turn).unwrap());
    }
    let mut count = done.0.lock().unwrap();
    while *count < 3 {
        count = done.1.wait(count).unwrap();
    }
    drop(count);
    let (sender, receiver) = mpsc::channel();
    threads.push(thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        sender.send(7).unwrap();
    }));
    println!("{}", receiver.recv().unwrap());
    for thread in threads {
        thread.join().unwrap();
    }
}
