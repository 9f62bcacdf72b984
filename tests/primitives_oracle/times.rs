//! Mixes of waits that end: `Notify`, `sleep`, `Instant`, and timeouts that notifications race with.

use std::time::Duration;

use rsmc::sync::atomic::Ordering::*;
use rsmc::sync::{Condvar, Mutex, Notify};
use rsmc::thread;
use rsmc::time::Instant;

use super::program::{Me, Mix, Operation, operations};

/// Without loops that wait: each wait takes a lock and gives it back, and of such rounds `reads-from` shows some more.
pub struct Notifies;

impl Mix for Notifies {
    type Objects = [Notify; 2];
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 4;

    fn objects(_: usize) -> Self::Objects {
        Default::default()
    }

    fn given(_: &Self::Objects, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all[0].wait();
            me.all[0].wait();
            me.all[1].wait();
            me.all[0].notify();
            me.all[0].notify();
            me.all[1].notify();
            { me.x.store(3, Relaxed); me.all[0].notify() };
            { me.all[0].wait(); me.x.load(Relaxed) };
            { me.all[0].wait(); me.all[1].notify() };
        }
    }
}

pub struct Times;

#[derive(Default)]
pub struct Waited {
    is_set: Mutex<bool>,
    changed: Condvar,
    sent: Mutex<Option<Instant>>,
}

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

impl Waited {
    fn set(&self) {
        *self.is_set.lock().unwrap() = true;
        self.changed.notify_one();
    }

    /// Whether it was set in time.
    fn wait(&self, time: Duration) -> (bool, bool) {
        let (is_set, result) = self.changed.wait_timeout(self.is_set.lock().unwrap(), time).unwrap();
        (*is_set, result.timed_out())
    }

    fn wait_while(&self, time: Duration) -> (bool, bool) {
        let is_set = self.is_set.lock().unwrap();
        let (is_set, result) = self.changed.wait_timeout_while(is_set, time, |is_set| !*is_set).unwrap();
        (*is_set, result.timed_out())
    }

    /// How much later it is now than when another thread sent its time, and how much earlier.
    fn since_sent(&self) -> Option<(Duration, Duration)> {
        let (sent, now) = ((*self.sent.lock().unwrap())?, Instant::now());
        Some((now.duration_since(sent), sent.duration_since(now)))
    }
}

impl Me<'_, Times> {
    /// Whether another thread wrote before it gave up.
    fn waits_until_a_deadline(&self) -> (bool, Instant) {
        let deadline = Instant::now() + 3 * MILLISECOND;
        while self.x.load(Acquire) == 0 {
            let now = Instant::now();
            if now >= deadline {
                return (false, now);
            }
        }
        (true, Instant::now())
    }

    /// As long as it takes, one second after another.
    fn sleeps_until_it_is_told(&self) -> Duration {
        let start = Instant::now();
        for _ in 0..2 {
            if self.x.load(Relaxed) > 0 {
                break;
            }
            thread::sleep(SECOND);
        }
        start.elapsed()
    }
}

impl Mix for Times {
    type Objects = Waited;
    type Given = ();
    type Held<'a> = Option<Instant>;
    const LENGTH: usize = 5;

    fn objects(_: usize) -> Waited {
        Waited::default()
    }

    fn given(_: &Waited, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            Instant::now();
            me.held.replace(Instant::now()).is_some();
            me.held.map(|start| start.elapsed());
            thread::sleep(SECOND);
            thread::sleep(SECOND);
            thread::sleep(2 * SECOND);
            thread::sleep(Duration::ZERO);
            { thread::sleep(SECOND); me.x.swap(1, AcqRel) };
            { thread::sleep(2 * SECOND); me.x.swap(2, AcqRel) };
            me.all.set();
            me.all.set();
            (me.all.wait(SECOND), Instant::now());
            (me.all.wait(MILLISECOND), Instant::now());
            (me.all.wait_while(SECOND), Instant::now());
            me.all.wait(Duration::ZERO);
            (thread::park_timeout(SECOND), Instant::now());
            me.others[0].unpark();
            me.waits_until_a_deadline();
            me.sleeps_until_it_is_told();
            me.all.sent.lock().unwrap().replace(Instant::now());
            me.all.since_sent();
            (thread::spawn(|| { thread::sleep(5 * SECOND); Instant::now() }).join().unwrap(), Instant::now());
        }
    }
}
