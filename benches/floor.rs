//! The floor: what it costs to run a body with its coroutine switches and nothing else.
//!
//! Threads are coroutines of one OS thread, as in rsmc's runtime and in loom, on stacks that are kept from one
//! execution to the next. Every atomic operation switches to the scheduler and back before it reads or writes plain
//! memory. The scheduler takes turns; nothing is recorded, chosen or checked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use generator::{Generator, Gn};

/// The stack of each coroutine, in words; as many bytes as rsmc's default.
const STACK: usize = 256 * 1024 / size_of::<usize>();

/// The code of a spawned thread, and the place where its end is noted.
struct Job {
    run: Box<dyn FnOnce()>,
    thread: Rc<Thread>,
}

/// A thread that others may wait for.
#[derive(Default)]
struct Thread {
    ended: Cell<bool>,
    waiting: RefCell<Option<Coroutine>>,
}

/// The reason why a coroutine switches to the scheduler.
#[derive(Default)]
enum Switch {
    /// Before an operation: it goes on when it is its turn.
    #[default]
    Operation,
    /// It goes on when this thread has ended.
    Join(Rc<Thread>),
    /// The job is done.
    End(Rc<Thread>),
}

thread_local! {
    /// The job of the coroutine that is started.
    static JOB: Cell<Option<Job>> = const { Cell::new(None) };
    /// The reason for the last switch of a coroutine.
    static SWITCH: Cell<Switch> = const { Cell::new(Switch::Operation) };
    /// The threads that were spawned since the scheduler looked last.
    static SPAWNED: RefCell<Vec<Job>> = const { RefCell::new(Vec::new()) };
}

/// A coroutine that runs one job after another.
struct Coroutine {
    generator: Generator<'static, (), ()>,
    /// The job that it starts when it is resumed.
    job: Option<Job>,
}

impl Coroutine {
    fn new() -> Self {
        let generator = Gn::new_opt(STACK, || {
            while let Some(job) = JOB.take() {
                (job.run)();
                switch(Switch::End(job.thread));
            }
        });
        Self { generator, job: None }
    }

    fn resume(&mut self) -> Switch {
        if let Some(job) = self.job.take() {
            JOB.set(Some(job));
        }
        self.generator.resume();
        SWITCH.take()
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        // There is no job: it returns.
        self.generator.resume();
    }
}

/// Runs bodies, and keeps the stacks.
#[derive(Default)]
pub struct Floor {
    idle: Vec<Coroutine>,
    ready: VecDeque<Coroutine>,
}

impl Floor {
    /// Runs a body until all its threads have ended. It must not panic.
    pub fn run(&mut self, body: impl FnOnce() + 'static) {
        self.start(Job { run: Box::new(body), thread: Rc::default() });
        while let Some(mut coroutine) = self.ready.pop_front() {
            let switch = coroutine.resume();
            SPAWNED.with_borrow_mut(|jobs| jobs.drain(..).for_each(|job| self.start(job)));
            match switch {
                Switch::Operation => self.ready.push_back(coroutine),
                Switch::Join(thread) => *thread.waiting.borrow_mut() = Some(coroutine),
                Switch::End(thread) => {
                    thread.ended.set(true);
                    self.ready.extend(thread.waiting.take());
                    self.idle.push(coroutine);
                }
            }
        }
    }

    fn start(&mut self, job: Job) {
        let mut coroutine = self.idle.pop().unwrap_or_else(Coroutine::new);
        coroutine.job = Some(job);
        self.ready.push_back(coroutine);
    }
}

/// To the scheduler and back.
fn switch(why: Switch) {
    SWITCH.set(why);
    #[allow(deprecated, reason = "its successor needs a handle, which atomics do not have")]
    generator::yield_with(());
}

/// Starts a coroutine.
pub fn spawn(job: impl FnOnce() + 'static) -> JoinHandle<()> {
    let thread = Rc::<Thread>::default();
    let job = Job { run: Box::new(job), thread: Rc::clone(&thread) };
    SPAWNED.with_borrow_mut(|jobs| jobs.push(job));
    JoinHandle { thread, result: () }
}

/// A coroutine that can be waited for.
pub struct JoinHandle<T> {
    thread: Rc<Thread>,
    result: T,
}

impl<T> JoinHandle<T> {
    /// Waits until it has ended. Never an error: bodies do not panic.
    #[allow(clippy::result_unit_err, reason = "the shape of std's")]
    pub fn join(self) -> Result<T, ()> {
        if !self.thread.ended.get() {
            switch(Switch::Join(self.thread));
        }
        Ok(self.result)
    }
}

/// Lets the others run.
pub fn spin_loop() {
    switch(Switch::Operation);
}

/// An atomic that is none: one OS thread runs everything.
pub struct AtomicU32(Cell<u32>);

/// Every ordering.
#[derive(Clone, Copy)]
pub struct SeqCst;

impl AtomicU32 {
    /// With a first value.
    pub fn new(value: u32) -> Self {
        Self(Cell::new(value))
    }

    /// As that of std.
    pub fn load(&self, _: SeqCst) -> u32 {
        switch(Switch::Operation);
        self.0.get()
    }

    /// As that of std.
    pub fn store(&self, value: u32, _: SeqCst) {
        switch(Switch::Operation);
        self.0.set(value);
    }

    /// As that of std.
    pub fn fetch_add(&self, value: u32, _: SeqCst) -> u32 {
        switch(Switch::Operation);
        self.0.replace(self.0.get().wrapping_add(value))
    }

    /// As that of std.
    pub fn fetch_sub(&self, value: u32, _: SeqCst) -> u32 {
        self.fetch_add(value.wrapping_neg(), SeqCst)
    }

    /// As that of std.
    pub fn compare_exchange(&self, old: u32, new: u32, _: SeqCst, _: SeqCst) -> Result<u32, u32> {
        switch(Switch::Operation);
        let read = self.0.get();
        if read == old {
            self.0.set(new);
            Ok(read)
        } else {
            Err(read)
        }
    }
}
