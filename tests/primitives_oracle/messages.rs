//! Mixes of what threads tell each other with: channels, `park`, futures.

use std::future::poll_fn;
use std::sync::Mutex as StdMutex;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::task::{Poll, Waker};
use std::time::Duration;

use rsmc::future::{AtomicWaker, block_on};
use rsmc::sync::atomic::AtomicBool;
use rsmc::sync::atomic::Ordering::*;
use rsmc::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use rsmc::thread;

use super::program::{Me, Mix, Operation, operations};

pub struct Channels;

/// Sends messages; of one kind or the other.
#[derive(Clone)]
pub enum Sends {
    Unbounded(Sender<u8>),
    Bounded(SyncSender<u8>),
}

/// The first thread receives, the others send. Both ends are dropped early in some programs.
#[derive(Default)]
pub struct Ends {
    senders: Vec<Sends>,
    receiver: Option<Receiver<u8>>,
}

impl Me<'_, Channels> {
    fn send(&self, message: u8) -> Option<bool> {
        Some(match self.given.senders.last()? {
            Sends::Unbounded(sender) => sender.send(message).is_ok(),
            Sends::Bounded(sender) => sender.send(message).is_ok(),
        })
    }

    fn try_send(&self, message: u8) -> Option<Result<(), String>> {
        Some(match self.given.senders.last()? {
            Sends::Unbounded(sender) => sender.send(message).map_err(|error| error.to_string()),
            Sends::Bounded(sender) => sender.try_send(message).map_err(|error| error.to_string()),
        })
    }

    fn clone_sender(&mut self) {
        let clone = self.given.senders.last().cloned();
        self.given.senders.extend(clone);
    }

    fn recv(&self) -> Option<Option<u8>> {
        Some(self.given.receiver.as_ref()?.recv().ok())
    }

    fn try_recv(&self) -> Option<Result<u8, TryRecvError>> {
        Some(self.given.receiver.as_ref()?.try_recv())
    }

    fn recv_timeout(&self) -> Option<Result<u8, RecvTimeoutError>> {
        Some(self.given.receiver.as_ref()?.recv_timeout(Duration::from_secs(1)))
    }

    fn drain(&self) -> Option<Vec<u8>> {
        Some(self.given.receiver.as_ref()?.try_iter().collect())
    }
}

impl Mix for Channels {
    type Objects = StdMutex<Ends>;
    type Given = Ends;
    type Held<'a> = ();
    const LENGTH: usize = 6;
    const VARIANTS: usize = 3;

    fn objects(variant: usize) -> Self::Objects {
        let (sender, receiver) = match variant {
            0 => {
                let (sender, receiver) = channel();
                (Sends::Unbounded(sender), receiver)
            }
            _ => {
                let (sender, receiver) = sync_channel(variant - 1);
                (Sends::Bounded(sender), receiver)
            }
        };
        StdMutex::new(Ends { senders: vec![sender], receiver: Some(receiver) })
    }

    fn given(objects: &Self::Objects, thread: usize, threads: usize) -> Ends {
        let ends = &mut *objects.lock().expect("nothing panics here");
        match thread {
            0 => Ends { senders: vec![], receiver: ends.receiver.take() },
            _ if thread + 1 < threads => Ends { senders: ends.senders.clone(), receiver: None },
            _ => Ends { senders: std::mem::take(&mut ends.senders), receiver: None },
        }
    }

    fn operations(thread: usize) -> &'static [Operation<Self>] {
        match thread {
            0 => operations! { |me|
                me.recv();
                me.recv();
                me.try_recv();
                me.recv_timeout();
                me.drain();
                me.given.receiver.take().is_some();
            },
            _ => operations! { |me|
                me.send(1);
                me.send(2);
                me.send(3);
                me.try_send(4);
                me.try_send(5);
                me.clone_sender();
                me.given.senders.pop().is_some();
            },
        }
    }
}

pub struct Parks;

impl Mix for Parks {
    type Objects = ();
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 7;

    fn objects(_: usize) {}

    fn given((): &(), _: usize, _: usize) {}

    fn operations(thread: usize) -> &'static [Operation<Self>] {
        let all: &[Operation<Self>] = operations! { |me|
            thread::park();
            thread::park_timeout(Duration::from_secs(1));
            me.others[0].unpark();
            me.others.last().unwrap().unpark();
            thread::current().unpark();
            me.x.swap(1, Relaxed);
            me.is_second_finished();
        };
        // The last one is for the first thread.
        if thread == 0 { all } else { &all[..all.len() - 1] }
    }
}

pub struct Futures;

#[derive(Default)]
pub struct Task {
    ready: AtomicBool,
    waker: AtomicWaker,
}

impl Task {
    /// Waits until it is ready, and says how often it looked.
    fn wait(&self) -> u32 {
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            self.waker.register(context.waker());
            if self.ready.load(Acquire) { Poll::Ready(polls) } else { Poll::Pending }
        }))
    }

    /// As `wait`, but looks before it leaves its waker: it may wait for ever.
    fn wait_carelessly(&self) -> u32 {
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            let ready = self.ready.load(Acquire);
            self.waker.register(context.waker());
            if ready { Poll::Ready(polls) } else { Poll::Pending }
        }))
    }

    /// A future that wants to be polled once more.
    fn yield_once(&self) -> u32 {
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            self.waker.register(context.waker());
            if polls == 2 { Poll::Ready(polls) } else { Poll::Pending }
        }))
    }

    fn finish(&self, order: rsmc::sync::atomic::Ordering) {
        self.ready.store(true, order);
        self.waker.wake();
    }
}

impl Mix for Futures {
    type Objects = Task;
    type Given = Option<Waker>;
    type Held<'a> = ();
    const LENGTH: usize = 4;

    fn objects(_: usize) -> Task {
        Task::default()
    }

    fn given(_: &Task, _: usize, _: usize) -> Option<Waker> {
        None
    }

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all.wait();
            me.all.wait();
            me.all.wait_carelessly();
            me.all.yield_once();
            me.all.finish(Release);
            me.all.finish(Relaxed);
            me.all.waker.wake();
            {
                me.given = me.all.waker.take();
                me.given.is_some()
            };
            me.given.take().map(Waker::wake).is_some();
            me.all.ready.swap(true, AcqRel);
        }
    }
}
