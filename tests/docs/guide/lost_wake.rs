use rsmc_shim::future::{AtomicWaker, block_on};
use rsmc_shim::sync::atomic::{AtomicBool, Ordering::*};
use rsmc_shim::thread;
use std::future::poll_fn;
use std::task::Poll;

/// Something that happens once, and a task that waits for it.
#[derive(Default)]
pub struct Event {
    happened: AtomicBool,
    waiter: AtomicWaker,
}

impl Event {
    pub fn happen(&self) {
        self.happened.store(true, Release);
        self.waiter.wake();
    }

    pub async fn wait(&self) {
        poll_fn(|context| {
            if self.happened.load(Acquire) {
                return Poll::Ready(());
            }
            self.waiter.register(context.waker());
            Poll::Pending
        })
        .await;
    }
}

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn the_task_ends() {
    let event = Event::default();
    thread::scope(|scope| {
        scope.spawn(|| event.happen());
        block_on(event.wait());
    });
}
