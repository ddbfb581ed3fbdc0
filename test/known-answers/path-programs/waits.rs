// Waits of Rust's standard library, each case by its name: see ../futex.test.ts. Work is counted as in units.h.
use std::hint::black_box;
use std::sync::{mpsc, Arc, Condvar, Mutex, RwLock};
use std::thread;

const ROUNDS: u32 = 60;

#[inline(always)]
fn units(count: u64) {
    let mut x = count | 1;
    for _ in 0..count * 200_000 {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    black_box(x);
}
macro_rules! work {
    ($($name:ident $count:expr),*) => { $(#[inline(never)] fn $name() { units($count); black_box(()); })* };
}
work!(produce 5, consume 15, locked 12, outside 3, ping 10, pong 11, longer 900, shorter 200, after 500);

fn both(one: impl FnOnce() + Send + 'static, other: impl FnOnce() + Send + 'static) {
    let (first, second) = (thread::spawn(one), thread::spawn(other));
    first.join().unwrap();
    second.join().unwrap();
}

fn at_mutex() {
    let lock = Arc::new(Mutex::new(0));
    let locks = |lock: Arc<Mutex<i32>>| {
        move || {
            for _ in 0..ROUNDS {
                let mut held = lock.lock().unwrap();
                locked();
                *held += 1;
                drop(held);
                outside();
            }
        }
    };
    both(locks(lock.clone()), locks(lock));
}

fn at_rwlock() {
    let lock = Arc::new(RwLock::new(0));
    let locks = |lock: Arc<RwLock<i32>>| {
        move || {
            for _ in 0..ROUNDS {
                let mut held = lock.write().unwrap();
                locked();
                *held += 1;
                drop(held);
                outside();
            }
        }
    };
    both(locks(lock.clone()), locks(lock));
}

fn at_condvar() {
    let turn = Arc::new((Mutex::new(0), Condvar::new()));
    let takes_turns = |turn: Arc<(Mutex<i32>, Condvar)>, mine: i32, work: fn()| {
        move || {
            for _ in 0..ROUNDS {
                let mut now = turn.0.lock().unwrap();
                while *now != mine {
                    now = turn.1.wait(now).unwrap();
                }
                drop(now);
                work();
                *turn.0.lock().unwrap() = 1 - mine;
                turn.1.notify_all();
            }
        }
    };
    both(takes_turns(turn.clone(), 0, ping), takes_turns(turn, 1, pong));
}

fn at_channel() {
    let (give, take) = mpsc::sync_channel(ROUNDS as usize);
    both(
        move || {
            for k in 0..ROUNDS {
                produce();
                give.send(k).unwrap();
            }
        },
        move || {
            for _ in 0..ROUNDS {
                take.recv().unwrap();
                consume();
            }
        },
    );
}

fn at_park() {
    let waits = thread::spawn(|| {
        thread::park();
        after();
    });
    let waiting = waits.thread().clone();
    thread::spawn(move || {
        longer();
        waiting.unpark();
        shorter();
    })
    .join()
    .unwrap();
    waits.join().unwrap();
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("mutex") => at_mutex(),
        Some("rwlock") => at_rwlock(),
        Some("condvar") => at_condvar(),
        Some("channel") => at_channel(),
        Some("park") => at_park(),
        _ => std::process::exit(2),
    }
}
