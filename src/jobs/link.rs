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
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ctrl_c;
use crate::jobs::VARIABLE;
use crate::jobs::wire::{FromWorker, ToWorker, VERSION, receive, send};

/// The value of [`VARIABLE`].
pub(super) struct Assignment {
    address: String,
    token: u64,
    version: u32,
    purpose: Purpose,
    check: String,
}

/// The use of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It explores parts of the check.
    Explore,
    /// It answers questions about the check, each of which is a check of its own.
    Answer,
}

impl Purpose {
    const ALL: [Self; 2] = [Self::Explore, Self::Answer];

    fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Answer => "answer",
        }
    }
}

impl Assignment {
    /// The assignment of this process, if it is a worker.
    pub(super) fn read() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let mut parts = text.splitn(5, '/');
        let mut next = || parts.next().map(str::to_owned);
        let (address, token, version) = (next()?, next()?.parse().ok()?, next()?.parse().ok()?);
        let (purpose, check) = (next()?, next()?);
        let purpose = Purpose::ALL.into_iter().find(|known| known.name() == purpose)?;
        Some(Self { address, token, version, purpose, check })
    }

    /// The value of the variable.
    pub(super) fn text(address: &str, token: u64, purpose: Purpose, check: &str) -> String {
        format!("{address}/{token}/{VERSION}/{}/{check}", purpose.name())
    }

    pub(super) fn is_for(&self, check: &str) -> bool {
        self.check == check && self.version == VERSION
    }

    /// Whether the worker has this purpose for this check.
    pub(super) fn is_to(&self, purpose: Purpose, check: &str) -> bool {
        self.is_for(check) && self.purpose == purpose
    }

    /// Explores parts of a check until the coordinator closes the connection, and ends the process.
    pub(super) fn explore(&self, fingerprint: u64, config: &Config, body: &(dyn Fn() + Sync)) -> ! {
        let stream = self.connect(fingerprint);
        let worked = check_body(config, body, |body| body.check().work(&mut Connection::new(stream)));
        exit(i32::from(worked.is_err()))
    }

    /// Answers questions until the coordinator closes the connection, and ends the process.
    pub(super) fn answer<Q, A>(&self, fingerprint: u64, answer: &dyn Fn(Q) -> A) -> !
    where
        Q: DeserializeOwned + Send + 'static,
        A: Serialize,
    {
        let Connection { stream, jobs, .. } = Connection::new(self.connect(fingerprint));
        for question in jobs {
            say(&stream, &FromWorker::Answer(Box::new(answer(question))));
        }
        exit(0)
    }

    /// The connection to the coordinator, after the hello.
    fn connect(&self, fingerprint: u64) -> TcpStream {
        let hello = FromWorker::<()>::Hello { version: VERSION, token: self.token, fingerprint };
        let Ok(stream) = TcpStream::connect(&self.address) else { exit(1) };
        let connected = stream.set_nodelay(true).and_then(|()| send(&mut &stream, &hello));
        let Ok(()) = connected else { exit(1) };
        if let Ok(stream) = stream.try_clone() {
            drop(LAST.set(stream));
        }
        // Ctrl-C in a terminal reaches all processes. The coordinator decides what it means; this process ends with it.
        ctrl_c::handle(|| ());
        stream
    }
}

/// The connection, for last words: nothing else is sent then.
static LAST: OnceLock<TcpStream> = OnceLock::new();

/// Tells the coordinator that the process ends in an execution.
pub(super) fn say_last_words(stuck: Option<String>, seed: Option<String>, scenario: Option<String>) {
    if let (Some(mut stream), Some(seed)) = (LAST.get(), seed) {
        drop(send(&mut stream, &FromWorker::<()>::Ends { stuck, seed, scenario }));
    }
}

/// The connection to the coordinator.
struct Connection<J> {
    stream: Rc<RefCell<TcpStream>>,
    jobs: Receiver<J>,
    hurry: Arc<AtomicBool>,
}

impl<J: DeserializeOwned + Send + 'static> Connection<J> {
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
fn listen<J: DeserializeOwned>(mut stream: TcpStream, jobs: &Sender<J>, hurry: &AtomicBool) {
    loop {
        match receive::<ToWorker<J>>(&mut stream) {
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

fn say(stream: &RefCell<TcpStream>, message: &FromWorker<impl Serialize>) {
    if send(&mut *stream.borrow_mut(), message).is_err() {
        exit(0);
    }
}

impl Link for Connection<Job> {
    fn next(&mut self) -> Option<Job> {
        self.jobs.recv().ok()
    }

    fn hurries(&mut self) -> bool {
        self.hurry.load(Relaxed)
    }

    fn announcer(&self) -> Rc<dyn Fn(&Seed)> {
        let stream = Rc::clone(&self.stream);
        Rc::new(move |seed| say(&stream, &FromWorker::<()>::At(seed.to_string())))
    }

    fn answer(&mut self, answer: Answer) {
        say(&self.stream, &FromWorker::Answer(Box::new(answer)));
    }
}
