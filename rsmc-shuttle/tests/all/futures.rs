//! Tasks.

use rsmc_shuttle as shuttle;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use shuttle::future::{self, AbortHandle, JoinError, JoinHandle, block_on};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::thread;

use crate::support::{outcomes, report};

#[test]
fn a_task_gives_its_output_to_who_awaits_it() {
    shuttle::check_dfs(
        || {
            let sum = block_on(async {
                let (two, three) = (future::spawn(async { 2 }), future::spawn_local(async { *Rc::new(3) }));
                two.await.unwrap() + three.await.unwrap()
            });
            assert_eq!(sum, 5);
            let task = future::spawn(async { 4 });
            assert_eq!(thread::spawn(|| block_on(task).unwrap()).join().unwrap(), 4);
        },
        None,
    );
}

/// A future that is pending for ever, and says when it is dropped.
struct Forever(Arc<AtomicUsize>);

impl Future for Forever {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Drop for Forever {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_task_that_is_aborted_is_dropped() {
    let seen = outcomes(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let task = future::spawn(Forever(Arc::clone(&drops)));
        let handle: AbortHandle = task.abort_handle();
        handle.clone().abort();
        handle.abort();
        let result = block_on(task);
        assert!(matches!(result, Err(JoinError::Cancelled)) && handle.is_finished());
        drops.load(SeqCst)
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["1"]);
    assert_eq!(JoinError::Cancelled.to_string(), "task was cancelled");
}

#[test]
fn a_task_may_end_before_it_is_aborted() {
    let seen = outcomes(|| {
        let task = future::spawn(async {
            future::yield_now().await;
            5
        });
        task.abort();
        block_on(task).ok()
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["None", "Some(5)"]);
}

#[test]
fn whether_a_task_has_ended_is_explored() {
    let seen = outcomes(|| {
        let mut task: JoinHandle<()> = future::spawn(async {});
        let before = task.is_finished();
        block_on(&mut task).unwrap();
        (before, task.is_finished())
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["(false, true)", "(true, true)"]);
}

#[test]
fn a_task_interleaves_at_its_awaits() {
    let seen = outcomes(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&number);
        drop(future::spawn(async move {
            theirs.fetch_add(1, SeqCst);
            future::yield_now().await;
            theirs.fetch_add(1, SeqCst);
        }));
        number.swap(10, SeqCst)
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["0", "1", "2"]);
}

/// A task without a handle may wait when all else is over; one with a handle may not.
#[test]
fn a_detached_task_may_wait_for_ever() {
    let body = |keeps: bool| {
        move || {
            let drops = Arc::new(AtomicUsize::new(0));
            let task = future::spawn(Forever(Arc::clone(&drops)));
            if keeps { std::mem::forget(task) } else { drop(task) }
        }
    };
    shuttle::check_dfs(body(false), None);
    shuttle::check_random(body(false), 20);
    assert!(report(|| shuttle::check_dfs(body(true), None)).contains("deadlock"));
}

/// The body waits for what only a detached task could bring.
#[test]
fn a_deadlock_with_a_detached_task_is_found() {
    let text = report(|| {
        shuttle::check_dfs(
            || {
                let (sender, receiver) = mpsc::channel::<()>();
                drop(future::spawn(async move {
                    std::future::pending::<()>().await;
                    sender.send(()).unwrap();
                }));
                receiver.recv().unwrap();
            },
            None,
        );
    });
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn a_detached_task_goes_on() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        drop(future::spawn(async move { sender.send(6).unwrap() }));
        receiver.recv()
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["Ok(6)"]);
}

#[test]
fn a_panic_of_a_task_is_a_failure() {
    let text = report(|| shuttle::check_random(|| drop(future::spawn(async { panic!("in a task") })), 1));
    assert!(text.contains("in a task"), "{text}");
}

/// A slot for a value, with a waker that is looked at too late.
#[test]
fn a_lost_wake_up_is_found() {
    let body = |registers_first: bool| {
        move || {
            let slot = Arc::new((AtomicUsize::new(0), Mutex::new(None::<Waker>)));
            let theirs = Arc::clone(&slot);
            let task = future::spawn(poll_fn(move |context| {
                let register = || *theirs.1.lock().unwrap() = Some(context.waker().clone());
                if registers_first {
                    register();
                }
                if theirs.0.load(SeqCst) == 1 {
                    return Poll::Ready(());
                }
                if !registers_first {
                    register();
                }
                Poll::Pending
            }));
            slot.0.store(1, SeqCst);
            let waker = slot.1.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
            block_on(task).unwrap();
        }
    };
    shuttle::check_dfs(body(true), None);
    shuttle::check_random(body(true), 200);
    for text in [report(|| shuttle::check_dfs(body(false), None)), report(|| shuttle::check_random(body(false), 500))] {
        assert!(text.contains("deadlock"), "{text}");
        assert!(text.contains("futures.rs"), "the task waits where it was started: {text}");
    }
}

/// A loop that yields until a flag is set waits, and is no livelock.
#[test]
fn a_task_that_polls_waits() {
    shuttle::check_dfs(
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let theirs = Arc::clone(&flag);
            let task = future::spawn(async move {
                while theirs.load(SeqCst) == 0 {
                    future::yield_now().await;
                }
            });
            flag.store(1, SeqCst);
            block_on(task).unwrap();
        },
        None,
    );
}
