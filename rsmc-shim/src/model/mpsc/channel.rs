//! A channel in a check, and its ends.

use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Arc as StdArc, Mutex, MutexGuard, PoisonError};

use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::runtime::{Object, Tag, hook, object};
use rsmc_core::trace::{Action, CallResult, Rmw, RmwKind};

use crate::model::monitor::Monitor;
use crate::model::mpsc::Place;
use crate::model::mpsc::message::shown;
use crate::model::surely::surely;
use rsmc_core::runtime::Identity;

/// The token for one wait of a thread.
#[derive(Clone)]
struct Token(StdArc<Tag>);

impl Token {
    fn new() -> Self {
        Self(StdArc::new(Tag::new()))
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        StdArc::ptr_eq(&self.0, &other.0)
    }
}

pub(super) struct Channel<T> {
    /// The number of the execution that it belongs to.
    execution: u64,
    created: Place,
    names: Names,
    /// Whether it holds no message, so that messages pass from hand to hand.
    hand_to_hand: bool,
    /// Orders the operations.
    turn: Monitor<()>,
    /// The modelled count of dropped senders.
    dropped: Identity,
    /// Never held at a scheduling point, nor where a message is dropped.
    state: Mutex<State<T>>,
}

struct State<T> {
    queue: object::Channel<T, Token>,
    senders: usize,
    /// Whether there was more than one sender.
    shared: bool,
}

/// The names in a report of the channel and of what threads wait for.
struct Names {
    channel: &'static str,
    message: &'static str,
    room: &'static str,
}

impl Names {
    fn of(capacity: Option<usize>) -> Self {
        let (channel, message) = match capacity {
            None => ("mpsc::channel", "next message of the mpsc::channel"),
            Some(_) => ("mpsc::sync_channel", "next message of the mpsc::sync_channel"),
        };
        let room = match capacity {
            Some(0) => "receiver of the mpsc::sync_channel",
            _ => "next free place in the mpsc::sync_channel",
        };
        Self { channel, message, room }
    }
}

impl<T> Channel<T> {
    #[track_caller]
    pub(super) fn create(execution: u64, capacity: Option<usize>) -> (SendingEnd<T>, ReceivingEnd<T>) {
        let names = Names::of(capacity);
        let created = Location::caller();
        let channel = StdArc::new(Self {
            execution,
            created,
            turn: Monitor::new(names.channel),
            names,
            hand_to_hand: capacity == Some(0),
            dropped: Identity::new(),
            state: Mutex::new(State { queue: object::Channel::new(capacity), senders: 1, shared: false }),
        });
        (SendingEnd { channel: StdArc::clone(&channel), made: created }, ReceivingEnd { channel })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether operations are steps here and now. Only destructors come here where they are not.
    fn is_live(&self) -> bool {
        hook::executions::execution() == Some(self.execution) && !hook::executions::is_unwinding()
    }

    /// The channel, for an operation.
    ///
    /// # Panics
    /// If it belongs to another execution.
    #[track_caller]
    fn used(&self) -> &Self {
        let (kind, file, line) = (self.names.channel, self.created.file(), self.created.line());
        match hook::executions::execution() {
            Some(execution) if execution == self.execution => self,
            Some(_) => {
                panic!("the {kind} created at {file}:{line} belongs to another execution: create it in the body")
            }
            None => {
                let object = Object { created: Some(self.created), ..self.dropped.object(kind) };
                hook::objects::meets_of(self.execution, object, Some(Location::caller()));
                panic!("the {kind} created at {file}:{line} belongs to a check: outside it may only be dropped")
            }
        }
    }

    /// Begins a call of a method, which a report shows as one row.
    fn call(&self, place: Place, verb: &'static str) -> Option<InCall> {
        self.is_live().then(|| self.turn.call(place, verb))
    }

    /// Performs an operation: one step, or none if the execution is over.
    fn act<R>(&self, place: Place, operation: impl FnOnce(&mut object::Channel<T, Token>) -> R) -> R {
        let operation = || {
            let queue = &mut self.state().queue;
            let before = queue.outline();
            let result = operation(queue);
            (result, queue.outline() != before)
        };
        if !self.is_live() {
            return operation().0;
        }
        self.turn.act_at(place, |()| {
            let (result, is_altered) = operation();
            if is_altered {
                hook::objects::alters();
            }
            result
        })
    }

    fn access_token(&self, place: Place, token: &Token, kind: &'static str, action: Action) {
        let object = Object { tag: &token.0, kind, created: Some(self.created) };
        let order = if action == Action::Park { Acquire } else { Release };
        hook::objects::access_at(place, object, || 0, action, order, order);
    }

    fn wait(&self, place: Place, token: &Token, kind: &'static str) {
        self.access_token(place, token, kind, Action::Park);
    }

    fn wake(&self, place: Place, token: Option<Token>, kind: &'static str) {
        if let Some(token) = token.filter(|_| self.is_live()) {
            self.access_token(place, &token, kind, Action::Unpark);
        }
    }
}

/// The remark of a report on a channel without a receiver.
const NO_RECEIVER: &str = "no receiver";
/// The remark of a report on an empty channel without senders.
const CLOSED: &str = "closed";

fn of_received<T>(message: &T) -> CallResult {
    CallResult::Received(shown(message))
}

/// The end that sends.
pub(super) struct SendingEnd<T> {
    channel: StdArc<Channel<T>>,
    made: Place,
}

enum Sent {
    Wakes(Option<Token>),
    Waits(Token),
}

impl<T> SendingEnd<T> {
    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let (channel, place) = (self.channel.used(), Location::caller());
        let call = channel.call(place, "send");
        let shown = shown(&message);
        let sent = channel.act(place, |queue| match queue.try_send(message) {
            Ok(receiver) => {
                calls::decide(CallResult::Sent(shown));
                Ok(Sent::Wakes(receiver))
            }
            Err(TrySendError::Disconnected(message)) => {
                calls::decide(CallResult::Remark(NO_RECEIVER));
                Err(SendError(message))
            }
            Err(TrySendError::Full(message)) => {
                let token = Token::new();
                queue.wait_to_send(token.clone(), message);
                calls::decide(CallResult::Offers(shown));
                Ok(Sent::Waits(token))
            }
        });
        match sent? {
            Sent::Wakes(receiver) => {
                channel.wake(place, receiver, channel.names.message);
                Ok(())
            }
            Sent::Waits(token) => {
                drop(call);
                let _call = channel.call(place, "send");
                channel.wait(place, &token, channel.names.room);
                let sent = channel.state().queue.sent(&token).map_err(SendError);
                calls::decide(if sent.is_ok() { CallResult::Sent(shown) } else { CallResult::Remark(NO_RECEIVER) });
                sent
            }
        }
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let (channel, place) = (self.channel.used(), Location::caller());
        let _call = channel.call(place, "try_send");
        let shown = shown(&message);
        let receiver = channel.act(place, |queue| {
            let sent = queue.try_send(message);
            calls::decide(match sent {
                Ok(_) => CallResult::Sent(shown),
                Err(TrySendError::Full(_)) => CallResult::Remark("full"),
                Err(TrySendError::Disconnected(_)) => CallResult::Remark(NO_RECEIVER),
            });
            sent
        })?;
        channel.wake(place, receiver, channel.names.message);
        Ok(())
    }
}

impl<T> Clone for SendingEnd<T> {
    /// No step: no thread can tell when it happens, since the sender that is cloned keeps the channel from losing its
    /// last one.
    #[track_caller]
    fn clone(&self) -> Self {
        hook::counts::counting();
        let mut state = self.channel.state();
        state.senders += 1;
        state.shared = true;
        Self { channel: StdArc::clone(&self.channel), made: Location::caller() }
    }
}

impl<T> Drop for SendingEnd<T> {
    fn drop(&mut self) {
        let (channel, left) = (&*self.channel, Cell::new(None));
        surely(|| {
            let senders = left.get().unwrap_or_else(|| self.leave());
            left.set(Some(senders));
            if senders == 0 {
                let _call = channel.call(self.made, "drop the last sender of");
                let receiver = channel.act(self.made, |queue| {
                    calls::decide(CallResult::Nothing);
                    queue.drop_senders()
                });
                channel.wake(self.made, receiver, channel.names.message);
            }
        });
        if !channel.is_live() {
            let unsent = channel.state().queue.stop_waiting();
            drop(unsent);
        }
    }
}

impl<T> SendingEnd<T> {
    /// Counts one sender less. Which one is the last depends on their order, so this is a step if there have been
    /// others.
    fn leave(&self) -> usize {
        let channel = &*self.channel;
        if channel.state().shared && channel.is_live() {
            let _call = channel.call(self.made, "drop a sender of");
            let count = Action::Rmw(Rmw { kind: RmwKind::Add, operand: 1, bits: 64 });
            let object = channel.dropped.object("dropped senders");
            hook::objects::access_at(self.made, object, || 0, count, SeqCst, SeqCst);
            calls::decide(CallResult::Nothing);
        }
        let mut state = channel.state();
        state.senders -= 1;
        state.senders
    }
}

/// The end that receives.
pub(super) struct ReceivingEnd<T> {
    channel: StdArc<Channel<T>>,
}

enum Received<T> {
    Message(T, Option<Token>),
    Waits(Token),
}

impl<T> ReceivingEnd<T> {
    #[track_caller]
    pub(super) fn try_recv(&self, place: Place) -> Result<T, TryRecvError> {
        self.receive_at_once(place, "try_recv", "empty")
    }

    /// Receives if there is a message. A report calls it by this verb, and has this remark if there is none.
    #[track_caller]
    fn receive_at_once(&self, place: Place, verb: &'static str, if_empty: &'static str) -> Result<T, TryRecvError> {
        let channel = self.channel.used();
        let _call = channel.call(place, verb);
        let (message, sender) = channel.act(place, |queue| {
            let received = queue.try_recv();
            calls::decide(match &received {
                Ok((message, _)) => of_received(message),
                Err(TryRecvError::Empty) => CallResult::Remark(if_empty),
                Err(TryRecvError::Disconnected) => CallResult::Remark(CLOSED),
            });
            received
        })?;
        channel.wake(place, sender, channel.names.room);
        Ok(message)
    }

    #[track_caller]
    pub(super) fn recv(&self, place: Place) -> Result<T, RecvError> {
        let channel = self.channel.used();
        let call = channel.call(place, "recv");
        match self.receive_or_begin_to_wait(place)? {
            Received::Message(message, sender) => {
                channel.wake(place, sender, channel.names.room);
                Ok(message)
            }
            Received::Waits(token) => {
                drop(call);
                let _call = channel.call(place, "recv");
                channel.wait(place, &token, channel.names.message);
                let received = channel.state().queue.received();
                calls::decide(received.as_ref().map_or(CallResult::Remark(CLOSED), of_received));
                received.ok_or(RecvError)
            }
        }
    }

    /// Receives as if the time were over when the thread has its turn. Only where messages pass from hand to hand,
    /// others can tell that it has waited.
    #[track_caller]
    pub(super) fn recv_timeout(&self, place: Place) -> Result<T, RecvTimeoutError> {
        let channel = self.channel.used();
        if !channel.hand_to_hand {
            hook::loops::hint();
            return self.receive_at_once(place, "recv_timeout", "timed out").map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        let call = channel.call(place, "recv_timeout");
        match self.receive_or_begin_to_wait(place)? {
            Received::Message(message, sender) => {
                channel.wake(place, sender, channel.names.room);
                Ok(message)
            }
            Received::Waits(_) => {
                hook::loops::hint();
                drop(call);
                let _call = channel.call(place, "recv_timeout");
                channel.act(place, |queue| {
                    let received = queue.give_up();
                    calls::decide(match &received {
                        Ok(message) => of_received(message),
                        Err(RecvTimeoutError::Timeout) => CallResult::Remark("timed out"),
                        Err(RecvTimeoutError::Disconnected) => CallResult::Remark(CLOSED),
                    });
                    received
                })
            }
        }
    }

    fn receive_or_begin_to_wait(&self, place: Place) -> Result<Received<T>, RecvError> {
        self.channel.act(place, |queue| match queue.try_recv() {
            Ok((message, sender)) => {
                calls::decide(of_received(&message));
                Ok(Received::Message(message, sender))
            }
            Err(TryRecvError::Disconnected) => {
                calls::decide(CallResult::Remark(CLOSED));
                Err(RecvError)
            }
            Err(TryRecvError::Empty) => {
                let token = Token::new();
                queue.wait_to_receive(token.clone());
                calls::decide(CallResult::Remark("waits"));
                Ok(Received::Waits(token))
            }
        })
    }
}

impl<T> Drop for ReceivingEnd<T> {
    fn drop(&mut self) {
        let (channel, place) = (&*self.channel, self.channel.created);
        let left = Cell::new((Vec::new(), Vec::new()));
        let _call = channel.call(place, "drop the receiver of");
        surely(|| {
            left.set(channel.act(place, |queue| {
                calls::decide(CallResult::Nothing);
                queue.drop_receiver()
            }));
        });
        let (messages, senders) = left.into_inner();
        for sender in senders {
            channel.wake(place, Some(sender), channel.names.room);
        }
        drop(messages);
    }
}
