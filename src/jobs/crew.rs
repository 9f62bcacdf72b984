//! The worker processes of a check: starting, hearing and ending them.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rsmc_core::session::jobs::{Answer, Crew, Death, Job, News};
use rsmc_core::session::{Config, resident_memory};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::jobs::link::{Assignment, Purpose};
use crate::jobs::wire::{FromWorker, ToWorker, VERSION, receive, send};
use crate::jobs::{VARIABLE, Which, death};

/// The time that a process may take to come to the check.
const TO_ARRIVE: Duration = Duration::from_secs(30);

/// The interval between two looks for a process that has come, or has ended.
const LOOK: Duration = Duration::from_millis(1);

/// The number of processes in a row that may end before one answers.
const MOST_FAILURES: u32 = 6;

/// A process that was started for a worker. Its token distinguishes it from those before it.
struct Process {
    child: Child,
    token: u64,
    started: Instant,
    /// From its hello on.
    stream: Option<TcpStream>,
    /// The seed of its last message about where it is.
    at: Option<String>,
    /// Its last words, if it said that it ends: that it is stuck, if it is, and its scenario.
    ends: Option<(Option<String>, Option<String>)>,
}

/// The token of a process, and its message, or the error that closed its connection.
type Heard<A> = (u64, io::Result<FromWorker<A>>);

/// The worker processes of one check, whose answers are of type `A`.
pub(super) struct Processes<'a, A> {
    which: &'a Which,
    purpose: Purpose,
    fingerprint: u64,
    listener: Option<TcpListener>,
    workers: Vec<Option<Process>>,
    /// Workers that have no process and never will.
    gone: Vec<bool>,
    sender: Sender<Heard<A>>,
    heard: Receiver<Heard<A>>,
    news: VecDeque<(usize, News<A>)>,
    tokens: u64,
    /// The number of processes that ended without a word since the last answer.
    failures: u32,
    looked: Instant,
}

impl<'a, A: DeserializeOwned + Send + 'static> Processes<'a, A> {
    /// As many workers as the configuration asks for; none is started yet.
    pub(super) fn new(which: &'a Which, purpose: Purpose, config: &Config) -> Self {
        let (sender, heard) = channel();
        Self {
            which,
            purpose,
            fingerprint: which.fingerprint(config),
            listener: None,
            workers: (0..config.jobs).map(|_| None).collect(),
            gone: vec![false; config.jobs],
            sender,
            heard,
            news: VecDeque::new(),
            tokens: 0,
            failures: 0,
            looked: Instant::now(),
        }
    }

    /// Starts a process for a worker.
    fn spawn(&mut self, worker: usize) -> io::Result<()> {
        if self.listener.is_none() {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            listener.set_nonblocking(true)?;
            self.listener = Some(listener);
        }
        let address = self.listener.as_ref().expect("it was just bound").local_addr()?.to_string();
        self.tokens += 1;
        // The token keeps other processes on this machine from being taken for a worker by chance.
        let token = self.tokens ^ (self.fingerprint << 16);
        let child = Command::new(std::env::current_exe()?)
            .args(self.which.arguments())
            .env(VARIABLE, Assignment::text(&address, token, self.purpose, &self.which.name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.workers[worker] =
            Some(Process { child, token, started: Instant::now(), stream: None, at: None, ends: None });
        Ok(())
    }

    /// Starts a process for a worker, or says that there will be none.
    fn spawn_or_give_up(&mut self, worker: usize) {
        let failed = match self.failures {
            MOST_FAILURES.. => Some("worker processes end before they answer anything".to_owned()),
            _ => self.spawn(worker).err().map(|error| format!("a worker process cannot be started: {error}")),
        };
        if let Some(why) = failed {
            self.give_up(worker, why);
        }
    }

    fn give_up(&mut self, worker: usize, why: String) {
        self.gone[worker] = true;
        self.news.push_back((worker, News::Gone(why)));
    }

    /// Whether the process of some worker has not come to the check yet.
    fn expects_somebody(&self) -> bool {
        self.workers.iter().flatten().any(|process| process.stream.is_none())
    }

    /// Admits the processes that have come, and gives up those that will not.
    fn look(&mut self) {
        if !self.expects_somebody() || self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        while let Some((stream, _)) = self.listener.as_ref().and_then(|listener| listener.accept().ok()) {
            // A process that does not introduce itself is not a worker.
            drop(self.admit(stream));
        }
        for worker in 0..self.workers.len() {
            let Some(process) = self.workers[worker].as_mut().filter(|process| process.stream.is_none()) else {
                continue;
            };
            let late = process.started.elapsed() > TO_ARRIVE;
            let ended = process.child.try_wait().ok().flatten();
            if let Some(status) = ended {
                let (how, _) = death::of(Some(status));
                self.workers[worker] = None;
                self.give_up(worker, format!("a worker process did not come to this check: it {how}"));
            } else if late {
                end(self.workers[worker].take());
                self.give_up(worker, "a worker process did not come to this check in time".to_owned());
            }
        }
    }

    fn admit(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let FromWorker::<A>::Hello { version, token, fingerprint } = receive(&mut stream)? else {
            return Err(io::Error::other("no hello"));
        };
        stream.set_read_timeout(None)?;
        let Some(worker) = self.worker_of(token) else { return Err(io::Error::other("nobody's token")) };
        if version != VERSION || fingerprint != self.fingerprint {
            end(self.workers[worker].take());
            self.give_up(worker, "a worker process is of another executable or configuration".to_owned());
            return Ok(());
        }
        let (mut reader, sender) = (stream.try_clone()?, self.sender.clone());
        std::thread::spawn(move || {
            loop {
                let message = receive(&mut reader);
                let closed = message.is_err();
                if sender.send((token, message)).is_err() || closed {
                    return;
                }
            }
        });
        if let Some(process) = &mut self.workers[worker] {
            process.stream = Some(stream);
            self.news.push_back((worker, News::Ready));
        }
        Ok(())
    }

    fn worker_of(&self, token: u64) -> Option<usize> {
        self.workers.iter().position(|process| process.as_ref().is_some_and(|process| process.token == token))
    }

    fn hear(&mut self, (token, message): Heard<A>) {
        let Some(worker) = self.worker_of(token) else { return };
        match message {
            Ok(FromWorker::Answer(answer)) => {
                self.failures = 0;
                self.news.push_back((worker, News::Answer(answer)));
            }
            Ok(FromWorker::At(seed)) => {
                if let Some(process) = &mut self.workers[worker] {
                    process.at = Some(seed);
                }
            }
            Ok(FromWorker::Ends { stuck, seed, scenario }) => {
                if let Some(process) = &mut self.workers[worker] {
                    (process.at, process.ends) = (Some(seed), Some((stuck, scenario)));
                }
            }
            Ok(FromWorker::Hello { .. }) => {}
            Err(_) => {
                let mut process = self.workers[worker].take();
                let at = process.as_ref().and_then(|process| process.at.as_ref()?.parse().ok());
                let ends = process.as_mut().and_then(|process| process.ends.take());
                let (how, by_itself) = death::of(end(process));
                let said_so = ends.is_some();
                self.failures += u32::from(!said_so);
                let (stuck, scenario) = ends.unwrap_or_default();
                let how = stuck.unwrap_or(how);
                self.news.push_back((worker, News::Died(Death { how, by_itself, said_so, at, scenario })));
                self.spawn_or_give_up(worker);
            }
        }
    }

    /// Sends a message to a worker. If its process has just ended, the connection says so.
    fn say<J: Serialize>(&mut self, worker: usize, message: &ToWorker<J>) {
        if let Some(stream) = self.workers[worker].as_mut().and_then(|process| process.stream.as_mut()) {
            drop(send(stream, message));
        }
    }

    /// Begins to start all workers.
    pub(super) fn start_all(&mut self) {
        (0..self.workers.len()).for_each(|worker| self.spawn_or_give_up(worker));
    }

    /// Gives a worker a job.
    pub(super) fn give_job(&mut self, worker: usize, job: impl Serialize) {
        if let Some(process) = &mut self.workers[worker] {
            process.at = None;
        }
        self.say(worker, &ToWorker::Job(job));
    }

    /// The next message about a worker, if one comes in time.
    pub(super) fn next_news(&mut self, wait: Duration) -> Option<(usize, News<A>)> {
        let start = Instant::now();
        loop {
            self.look();
            if let Some(news) = self.news.pop_front() {
                return Some(news);
            }
            let left = wait.saturating_sub(start.elapsed());
            let patience = if self.expects_somebody() { left.min(LOOK) } else { left };
            match self.heard.recv_timeout(patience) {
                Ok(heard) => self.hear(heard),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
                Err(_) => {}
            }
        }
    }
}

/// Ends a process. Returns its status if it ended by itself.
fn end(process: Option<Process>) -> Option<ExitStatus> {
    let mut process = process?;
    if let Some(stream) = &process.stream {
        drop(stream.shutdown(Shutdown::Both));
    }
    let start = Instant::now();
    while process.stream.is_some() && start.elapsed() < Duration::from_secs(1) {
        if let Ok(Some(status)) = process.child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(LOOK);
    }
    drop(process.child.kill());
    drop(process.child.wait());
    None
}

impl Crew for Processes<'_, Answer> {
    fn size(&self) -> usize {
        self.workers.len()
    }

    fn start(&mut self) {
        self.start_all();
    }

    fn give(&mut self, worker: usize, job: &Job) {
        self.give_job(worker, job);
    }

    fn hurry(&mut self, worker: usize) {
        self.say(worker, &ToWorker::<&Job>::Hurry);
    }

    fn memory(&self) -> u64 {
        let processes = self.workers.iter().flatten();
        processes.filter_map(|process| resident_memory(Some(process.child.id()))).sum()
    }

    fn news(&mut self, wait: Duration) -> Option<(usize, News)> {
        self.next_news(wait)
    }
}

impl<A> Drop for Processes<'_, A> {
    fn drop(&mut self) {
        for process in self.workers.iter_mut().flatten() {
            drop(process.child.kill());
        }
        for process in self.workers.iter_mut().flatten() {
            drop(process.child.wait());
        }
    }
}
