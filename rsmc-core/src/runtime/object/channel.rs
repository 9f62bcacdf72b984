//! The messages of a channel with one receiver, and the threads that wait for it.
//!
//! A thread that finds what it needs goes on at once. Otherwise it waits, and the thread that brings what it needs
//! completes its operation for it: a sender hands its message to the receiver that waits, and a receiver that makes
//! room lets in the message of the sender that has waited longest. No choice is lost by this: an operation that could
//! have been completed later is one that might have begun later, too, and that is another order of operations.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};

/// The state of a channel of messages `M`, with names `W` for the threads that wait. Operations return the names of
/// those to wake.
#[derive(Debug)]
pub struct Channel<M, W> {
    /// The largest number of messages that it holds.
    capacity: Option<usize>,
    /// Oldest first. No ring: behind as many messages as before, its bytes are what they were, so that a thread which
    /// sends to itself is where it was.
    messages: Vec<M>,
    /// Senders that found no room, with their messages; the one that waits longest is the first.
    full: VecDeque<(W, M)>,
    /// The receiver, while it waits.
    empty: Option<W>,
    /// The message that the receiver was handed while it waited.
    handed: Option<M>,
    no_sender: bool,
    no_receiver: bool,
}

impl<M, W: Clone + PartialEq> Channel<M, W> {
    /// An empty channel. With a capacity of 0, messages pass from hand to hand.
    pub fn new(capacity: Option<usize>) -> Self {
        Self {
            capacity,
            messages: Vec::new(),
            full: VecDeque::new(),
            empty: None,
            handed: None,
            no_sender: false,
            no_receiver: false,
        }
    }

    /// Sends a message if there is room or the receiver waits.
    ///
    /// # Errors
    /// The message, if not.
    pub fn try_send(&mut self, message: M) -> Result<Option<W>, TrySendError<M>> {
        if self.no_receiver {
            return Err(TrySendError::Disconnected(message));
        }
        if let Some(receiver) = self.empty.take() {
            self.handed = Some(message);
            return Ok(Some(receiver));
        }
        if self.capacity.is_some_and(|capacity| self.messages.len() >= capacity) {
            return Err(TrySendError::Full(message));
        }
        self.messages.push(message);
        Ok(None)
    }

    /// Its state but for the messages themselves: every operation that changes the state changes this.
    pub fn outline(&self) -> impl PartialEq + use<M, W> {
        let waits = (self.full.len(), self.empty.is_some(), self.handed.is_some());
        (self.messages.len(), waits, self.no_sender, self.no_receiver)
    }

    /// Notes that a sender, which found no room, begins to wait.
    pub fn wait_to_send(&mut self, sender: W, message: M) {
        self.full.push_back((sender, message));
    }

    /// The fate of the message of a sender that was woken: `Ok` if it was taken.
    ///
    /// # Errors
    /// The message, if there is no receiver any more.
    pub fn sent(&mut self, sender: &W) -> Result<(), M> {
        let left = self.full.iter().position(|(other, _)| other == sender);
        left.and_then(|at| self.full.remove(at)).map_or(Ok(()), |(_, message)| Err(message))
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    /// If there is none.
    pub fn try_recv(&mut self) -> Result<(M, Option<W>), TryRecvError> {
        let next = self.full.pop_front();
        let first = (!self.messages.is_empty()).then(|| self.messages.remove(0));
        match (first, next) {
            (Some(first), Some((sender, message))) => {
                self.messages.push(message);
                Ok((first, Some(sender)))
            }
            (Some(first), None) => Ok((first, None)),
            (None, Some((sender, message))) => Ok((message, Some(sender))),
            (None, None) if self.no_sender => Err(TryRecvError::Disconnected),
            (None, None) => Err(TryRecvError::Empty),
        }
    }

    /// Notes that the receiver, which found nothing, begins to wait.
    pub fn wait_to_receive(&mut self, receiver: W) {
        self.empty = Some(receiver);
    }

    /// The message that the receiver was handed when it was woken; `None` if there is no sender any more.
    pub fn received(&mut self) -> Option<M> {
        self.handed.take()
    }

    /// Ends the wait of the receiver.
    ///
    /// # Errors
    /// If it was not handed a message while it waited.
    pub fn give_up(&mut self) -> Result<M, RecvTimeoutError> {
        match self.empty.take() {
            Some(_) => Err(RecvTimeoutError::Timeout),
            None => self.received().ok_or(RecvTimeoutError::Disconnected),
        }
    }

    /// Notes that the last sender is dropped.
    pub fn drop_senders(&mut self) -> Option<W> {
        self.no_sender = true;
        self.empty.take()
    }

    /// Notes that the receiver is dropped. Returns the messages that will not be received, and the senders to wake,
    /// which get theirs back.
    pub fn drop_receiver(&mut self) -> (Vec<M>, Vec<W>) {
        self.no_receiver = true;
        let mut messages = std::mem::take(&mut self.messages);
        messages.extend(self.handed.take());
        (messages, self.full.iter().map(|(sender, _)| sender.clone()).collect())
    }

    /// Ends all waits, since the execution is over. Returns the messages that senders wanted to send.
    pub fn stop_waiting(&mut self) -> VecDeque<(W, M)> {
        self.empty = None;
        std::mem::take(&mut self.full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Letters = Channel<char, u32>;

    #[test]
    fn without_a_limit_messages_wait_in_order() {
        let mut channel = Letters::new(None);
        assert_eq!(channel.try_recv(), Err(TryRecvError::Empty));
        for message in ['a', 'b', 'c'] {
            assert_eq!(channel.try_send(message), Ok(None));
        }
        assert_eq!(channel.drop_senders(), None);
        let received: Vec<_> = std::iter::from_fn(|| channel.try_recv().ok()).collect();
        assert_eq!(received, [('a', None), ('b', None), ('c', None)]);
        assert_eq!(channel.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn a_receiver_that_waits_is_handed_the_next_message() {
        for capacity in [None, Some(1), Some(0)] {
            let mut channel = Letters::new(capacity);
            channel.wait_to_receive(7);
            assert_eq!(channel.try_send('a'), Ok(Some(7)));
            assert_eq!(channel.received(), Some('a'));
            assert_eq!(channel.try_recv(), Err(TryRecvError::Empty));
        }
    }

    #[test]
    fn a_receiver_that_waits_is_told_that_nobody_sends() {
        let mut channel = Letters::new(None);
        channel.wait_to_receive(7);
        assert_eq!((channel.drop_senders(), channel.received()), (Some(7), None));
    }

    #[test]
    fn room_is_for_who_waits_longest() {
        let mut channel = Letters::new(Some(2));
        for message in ['a', 'b'] {
            assert_eq!(channel.try_send(message), Ok(None));
        }
        for (sender, message) in [(1, 'c'), (2, 'd')] {
            assert_eq!(channel.try_send(message), Err(TrySendError::Full(message)));
            channel.wait_to_send(sender, message);
        }
        assert_eq!(channel.try_recv(), Ok(('a', Some(1))));
        assert_eq!(channel.sent(&1), Ok(()));
        assert_eq!(channel.try_send('e'), Err(TrySendError::Full('e')));
        assert_eq!(channel.try_recv(), Ok(('b', Some(2))));
        assert_eq!(channel.try_recv(), Ok(('c', None)));
        assert_eq!(channel.try_send('e'), Ok(None));
        let rest: Vec<_> = std::iter::from_fn(|| channel.try_recv().ok()).collect();
        assert_eq!(rest, [('d', None), ('e', None)]);
    }

    #[test]
    fn without_room_a_message_passes_from_hand_to_hand() {
        let mut channel = Letters::new(Some(0));
        assert_eq!(channel.try_send('a'), Err(TrySendError::Full('a')));
        channel.wait_to_send(1, 'a');
        channel.wait_to_send(2, 'b');
        assert_eq!(channel.try_recv(), Ok(('a', Some(1))));
        assert_eq!((channel.sent(&1), channel.try_recv()), (Ok(()), Ok(('b', Some(2)))));
        assert_eq!(channel.try_recv(), Err(TryRecvError::Empty));
    }

    #[test]
    fn what_nobody_receives_comes_back_or_is_dropped() {
        let mut channel = Letters::new(Some(1));
        assert_eq!(channel.try_send('a'), Ok(None));
        channel.wait_to_send(1, 'b');
        channel.wait_to_send(2, 'c');
        let (messages, woken) = channel.drop_receiver();
        assert_eq!((messages, woken), (vec!['a'], vec![1, 2]));
        assert_eq!((channel.sent(&2), channel.sent(&1)), (Err('c'), Err('b')));
        assert_eq!(channel.try_send('d'), Err(TrySendError::Disconnected('d')));
    }

    #[test]
    fn a_receiver_that_gives_up_may_have_been_handed_a_message() {
        let mut channel = Letters::new(Some(0));
        let mut wait = |meanwhile: fn(&mut Letters)| {
            channel.wait_to_receive(7);
            meanwhile(&mut channel);
            channel.give_up()
        };
        assert_eq!(wait(|_| {}), Err(RecvTimeoutError::Timeout));
        assert_eq!(wait(|channel| assert_eq!(channel.try_send('a'), Ok(Some(7)))), Ok('a'));
        assert_eq!(wait(|channel| assert_eq!(channel.drop_senders(), Some(7))), Err(RecvTimeoutError::Disconnected));
        assert_eq!(channel.try_send('b'), Err(TrySendError::Full('b')));
    }
}
