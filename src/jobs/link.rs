//! A worker process: the work that it does instead of its check.

use std::cell::RefCell;
use std::net::TcpStream;
use std::process::exit;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

use rsmc_core::seed::Seed;
use rsmc_core::session::jobs::{Answer, Job, Link};
use rsmc_core::session::{Config, check_body};

use crate::ctrl_c;
use crate::jobs::VARIABLE;
use crate::jobs::wire::{FromWorker, ToWorker, VERSION, receive, send};

/// The value of [`VARIABLE`].
pub(super) struct Assignment {
    address: String,
    token: u64,
    version: u32,
    check: String,
}

impl Assignment {
    /// The assignment of this process, if it is a worker.
    pub(super) fn read() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let mut parts = text.splitn(4, '/');
        let mut next = || parts.next().map(str::to_owned);
        let (address, token, version, check) = (next()?, next()?, next()?, next()?);
        Some(Self { address, token: token.parse().ok()?, version: version.parse().ok()?, check })
    }

    /// The value of the variable.
    pub(super) fn text(address: &str, token: u64, check: &str) -> String {
        format!("{address}/{token}/{VERSION}/{check}")
    }

    pub(super) fn is_for(&self, check: &str) -> bool {
        self.check == check && self.version == VERSION
    }

    /// Works until the coordinator closes the connection, and ends the process.
    pub(super) fn work(&self, fingerprint: u64, config: &Config, body: &(dyn Fn() + Sync)) -> ! {
        let hello = FromWorker::Hello { version: VERSION, token: self.token, fingerprint };
        let Ok(stream) = TcpStream::connect(&self.address) else { exit(1) };
        let connected = stream.set_nodelay(true).and_then(|()| send(&mut &stream, &hello));
        let Ok(()) = connected else { exit(1) };
        if let Ok(stream) = stream.try_clone() {
            drop(LAST.set(stream));
        }
        // Ctrl-C in a terminal reaches all processes. The coordinator decides what it means; this process ends with it.
        ctrl_c::handle(|| ());
        let worked = check_body(config, body, |body| body.check().work(&mut Connection::new(stream)));
        exit(i32::from(worked.is_err()))
    }
}

/// The connection, for last words: nothing else is sent then.
static LAST: OnceLock<TcpStream> = OnceLock::new();

/// Tells the coordinator that the process ends in an execution.
pub(super) fn say_last_words(stuck: Option<String>, seed: Option<String>) {
    if let (Some(mut stream), Some(seed)) = (LAST.get(), seed) {
        drop(send(&mut stream, &FromWorker::Ends { stuck, seed }));
    }
}

/// The connection to the coordinator.
struct Connection {
    stream: Rc<RefCell<TcpStream>>,
    jobs: Receiver<Job>,
    hurry: Arc<AtomicBool>,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        let (sender, jobs) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let Ok(reader) = stream.try_clone() else { exit(1) };
        let flag = Arc::clone(&hurry);
        std::thread::spawn(move || listen(reader, &sender, &flag));
        Self { stream: Rc::new(RefCell::new(stream)), jobs, hurry }
    }
}

/// Hears the coordinator, and ends the process when the connection is closed.
fn listen(mut stream: TcpStream, jobs: &Sender<Job>, hurry: &AtomicBool) {
    loop {
        match receive::<ToWorker<Job>>(&mut stream) {
            Ok(ToWorker::Job(job)) => {
                hurry.store(false, Relaxed);
                if jobs.send(job).is_err() {
                    return;
                }
            }
            Ok(ToWorker::Hurry) => hurry.store(true, Relaxed),
            Err(_) => exit(0),
        }
    }
}

fn say(stream: &RefCell<TcpStream>, message: &FromWorker) {
    if send(&mut *stream.borrow_mut(), message).is_err() {
        exit(0);
    }
}

impl Link for Connection {
    fn next(&mut self) -> Option<Job> {
        self.jobs.recv().ok()
    }

    fn hurries(&mut self) -> bool {
        self.hurry.load(Relaxed)
    }

    fn announcer(&self) -> Rc<dyn Fn(&Seed)> {
        let stream = Rc::clone(&self.stream);
        Rc::new(move |seed| say(&stream, &FromWorker::At(seed.to_string())))
    }

    fn answer(&mut self, answer: Answer) {
        say(&self.stream, &FromWorker::Answer(Box::new(answer)));
    }
}
