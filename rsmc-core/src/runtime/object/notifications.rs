//! The waiters of a condition variable, and its notifications.
//!
//! A notification is for any one of the waiters that wait when it is given, and for none that comes later. Any of them
//! may take it: all are woken, and the first that comes takes it. So a notification is a *permit* with the waiters that
//! may take it. Permits are taken oldest first. As each permit is for all that waited, an older one is for a part of
//! the waiters of a younger one, without those that came later: no choice leaves a permit behind that no waiter can
//! take.

/// A wait, numbered in the order of beginning among those that are not over. Numbers are used again, so that a loop
/// which waits in vain comes back to the state in which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiter(u64);

/// The state of a condition variable.
#[derive(Clone, Debug, Default)]
pub struct Notifications {
    /// The waiters, oldest first.
    waiting: Vec<Waiter>,
    /// The permits, oldest first: each is for the waiters that began before this one.
    permits: Vec<Waiter>,
}

impl Notifications {
    /// Begins a wait.
    pub fn begin(&mut self) -> Waiter {
        let waiter = self.next();
        self.waiting.push(waiter);
        waiter
    }

    /// The number of the wait that begins next: after all that wait, and no notification was for it.
    fn next(&self) -> Waiter {
        let after_all = self.waiting.last().map_or(Waiter(0), |last| Waiter(last.0 + 1));
        self.permits.last().copied().map_or(after_all, |before| before.max(after_all))
    }

    /// Notifies one of the waiters, if there is one that is not notified already; returns how many were notified. If
    /// any, all that [wait](Self::waiting) are to be woken.
    pub fn notify_one(&mut self) -> usize {
        self.notify(1)
    }

    /// Notifies all waiters; as [`notify_one`](Self::notify_one).
    pub fn notify_all(&mut self) -> usize {
        self.notify(usize::MAX)
    }

    fn notify(&mut self, most: usize) -> usize {
        let number = most.min(self.waiting.len() - self.permits.len());
        self.permits.extend(std::iter::repeat_n(self.next(), number));
        number
    }

    /// The waiters, oldest first.
    pub fn waiting(&self) -> &[Waiter] {
        &self.waiting
    }

    /// A waiter that was woken ends its wait if there is a permit for it; otherwise it waits on.
    pub fn take(&mut self, waiter: Waiter) -> bool {
        let own = self.permits.iter().position(|&before| waiter < before);
        if let Some(own) = own {
            self.permits.remove(own);
            self.waiting.retain(|&other| other != waiter);
        }
        own.is_some()
    }

    /// A waiter gives up, with a permit if there is one for it; returns whether there was.
    pub fn give_up(&mut self, waiter: Waiter) -> bool {
        self.take(waiter) || {
            self.waiting.retain(|&other| other != waiter);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_for_any_who_waits_and_for_nobody_who_comes_later() {
        for first in [0, 1] {
            let mut condition = Notifications::default();
            assert_eq!(condition.notify_one(), 0);
            let early = [condition.begin(), condition.begin()];
            assert_eq!((condition.notify_one(), condition.waiting()), (1, &early[..]));
            let late = condition.begin();
            assert!(!condition.take(late));
            assert!(condition.take(early[first]));
            assert!(!condition.take(early[1 - first]) && !condition.take(late));
        }
    }

    #[test]
    fn as_many_are_notified_as_wait() {
        let mut condition = Notifications::default();
        let one = condition.begin();
        assert_eq!((condition.notify_one(), condition.notify_one()), (1, 0));
        let two = condition.begin();
        assert_eq!((condition.notify_all(), condition.waiting()), (1, &[one, two][..]));
        assert!(condition.take(two) && condition.take(one) && !condition.take(one));
        assert_eq!(condition.notify_all(), 0);
    }

    /// In any order of arrival, two notifications wake two waiters.
    #[test]
    fn no_permit_is_left_behind() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut condition = Notifications::default();
            let mut all = vec![condition.begin(), condition.begin()];
            condition.notify_one();
            all.push(condition.begin());
            condition.notify_one();
            // Woken and in vain, a waiter comes again when others have been.
            let mut awake = 0;
            for _ in 0..2 {
                awake += order.iter().filter(|&&at| condition.take(all[at])).count();
            }
            assert_eq!(awake, 2, "{order:?}");
        }
    }

    #[test]
    fn who_gives_up_needs_no_notification() {
        let mut condition = Notifications::default();
        let (one, two) = (condition.begin(), condition.begin());
        assert!(!condition.give_up(one));
        assert_eq!((condition.notify_one(), condition.waiting()), (1, &[two][..]));
        assert!(condition.give_up(two));
        assert_eq!(condition.notify_one(), 0);
    }
}
