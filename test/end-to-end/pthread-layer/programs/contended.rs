// Two threads that compete for one lock, which each holds for a while. Waiting for it does not use the pthread
// functions.
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[inline(never)]
fn refill(table: &Mutex<Vec<u32>>, round: u32) {
    let mut held = table.lock().unwrap();
    thread::sleep(Duration::from_millis(5));
    held.push(round);
}

fn main() {
    let table = Arc::new(Mutex::new(Vec::new()));
    let loaders: Vec<_> = (0..2)
        .map(|_| {
            let table = table.clone();
            thread::spawn(move || {
                for round in 0..40 {
                    refill(&table, round);
                }
            })
        })
        .collect();
    for loader in loaders {
        loader.join().unwrap();
    }
    std::process::exit(table.lock().unwrap().len() as i32 - 77);
}
