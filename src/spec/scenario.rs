//! Scenarios: which calls each thread makes, and which of them wait for which. A scenario is text in reports, in
//! `RSMC_SCENARIO` and in `Spec::execute`:
//!
//! ```text
//! [push(1)] push(2) !a, pop() | ?a pop() [pop()]
//! ```
//!
//! The calls in front brackets come before the threads start, those in the last ones after they have ended. `!a` says
//! that the thread then sets the flag `a`, and `?a` that it waits for it before it makes the call. `pop() @2` says that
//! the thread is suspended for ever in this call, when it has performed two operations of it. That is the last call of
//! its thread, another thread is not suspended, and nothing comes after the threads.

use crate::spec::order::{Calls, MOST_CALLS, Order};

/// A call: an operation and a value of its argument, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Call {
    pub(crate) operation: usize,
    pub(crate) value: usize,
}

/// The calls of one execution. They are numbered in this order: the beginning, the threads one after the other, the
/// end.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Scenario {
    /// The calls before the threads start.
    pub(crate) init: Vec<Call>,
    pub(crate) threads: Vec<Vec<Call>>,
    /// The calls after the threads have ended.
    pub(crate) end: Vec<Call>,
    /// Pairs of calls, by number: the second waits until the first has returned.
    pub(crate) signals: Vec<(usize, usize)>,
    /// The suspensions, by number of the call.
    pub(crate) suspended: Vec<Suspended>,
}

/// The point at which a thread is suspended for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Suspended {
    /// The call, by number.
    pub(crate) call: usize,
    /// The number of operations of the call that the thread has performed.
    pub(crate) after: u32,
}

impl Scenario {
    /// The calls, by number.
    pub(crate) fn calls(&self) -> impl Iterator<Item = Call> {
        self.init.iter().chain(self.threads.iter().flatten()).chain(&self.end).copied()
    }

    /// The calls, by number.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.init.iter_mut().chain(self.threads.iter_mut().flatten()).chain(&mut self.end)
    }

    /// The number of calls.
    pub(crate) fn len(&self) -> usize {
        self.calls().count()
    }

    /// The numbers of the calls of each thread.
    pub(crate) fn numbers(&self) -> Vec<std::ops::Range<usize>> {
        let mut first = self.init.len();
        let numbers = |thread: &Vec<Call>| {
            first += thread.len();
            first - thread.len()..first
        };
        self.threads.iter().map(numbers).collect()
    }

    /// The order that every client gives to the calls: what comes before the threads, each thread's own order, what
    /// comes after them, and the signals. `None` if calls wait for each other in a circle.
    pub(crate) fn order(&self) -> Option<Order> {
        let (calls, init) = (self.len(), self.init.len());
        let mut pairs: Vec<(usize, usize)> = (1..init).map(|call| (call - 1, call)).collect();
        let end = calls - self.end.len();
        pairs.extend((end + 1..calls).map(|call| (call - 1, call)));
        for thread in self.numbers() {
            pairs.extend((thread.start + 1..thread.end).map(|call| (call - 1, call)));
            pairs.extend((init > 0).then(|| (init - 1, thread.start)));
            pairs.extend((end < calls).then(|| (thread.end - 1, end)));
        }
        pairs.extend(&self.signals);
        pairs
            .into_iter()
            .try_fold(Order::none(calls), |order, (a, b)| if order.has(a, b) { Some(order) } else { order.with(a, b) })
    }

    /// The scenario with the signals that turn its own order into another.
    pub(crate) fn under(&self, base: &Order, order: &Order) -> Self {
        Self { signals: order.beyond(base), ..self.clone() }
    }

    /// The scenario in which threads are suspended at these points, which are in the order of calls.
    pub(crate) fn suspended(&self, points: &[Suspended]) -> Self {
        Self { suspended: points.to_vec(), ..self.clone() }
    }

    /// The scenarios that differ from this one in the order of threads only, itself among them.
    pub(crate) fn images(&self) -> Vec<Self> {
        permutations(self.threads.len()).iter().map(|places| self.with_threads_at(places)).collect()
    }

    /// The scenario with its threads in another order: `places` has the old places of the new threads.
    fn with_threads_at(&self, places: &[usize]) -> Self {
        let old = self.numbers();
        let threads: Vec<_> = places.iter().map(|&place| self.threads[place].clone()).collect();
        let (init, end) = (self.init.clone(), self.end.clone());
        let mut other = Self { init, threads, end, ..Self::default() };
        let new = other.numbers();
        let moved = |call: usize| {
            let (at, &place) =
                places.iter().enumerate().find(|&(_, &place)| old[place].contains(&call)).expect("a thread's");
            new[at].start + (call - old[place].start)
        };
        other.signals = self.signals.iter().map(|&(a, b)| (moved(a), moved(b))).collect();
        other.signals.sort_unstable();
        other.suspended = self.suspended.iter().map(|it| Suspended { call: moved(it.call), ..*it }).collect();
        other.suspended.sort_unstable();
        other
    }

    /// The calls for which a call waits.
    pub(crate) fn awaited_by(&self, call: usize) -> Calls {
        self.signals.iter().filter(|&&(_, waits)| waits == call).fold(0, |set, (sets, _)| set | 1 << sets)
    }

    /// The number of the flag that a call sets, if it sets one.
    pub(crate) fn flag_of(&self, call: usize) -> Option<usize> {
        let mut sets: Vec<usize> = self.signals.iter().map(|&(sets, _)| sets).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.binary_search(&call).ok()
    }

    /// The scenario as text; `label` has the text of a call.
    pub(crate) fn text(&self, label: &dyn Fn(Call) -> String) -> String {
        let joined = |calls: &[Call]| calls.iter().map(|&call| label(call)).collect::<Vec<_>>().join(", ");
        let all: Vec<Call> = self.calls().collect();
        let thread = |numbers: std::ops::Range<usize>| {
            let call = |call: usize| self.marked(call, &label(all[call]));
            numbers.map(call).collect::<Vec<_>>().join(", ")
        };
        let threads = self.numbers().into_iter().map(thread).collect::<Vec<_>>().join(" | ");
        let init = if self.init.is_empty() { String::new() } else { format!("[{}] ", joined(&self.init)) };
        let end = if self.end.is_empty() { String::new() } else { format!(" [{}]", joined(&self.end)) };
        format!("{init}{threads}{end}")
    }

    /// The number of operations after which the thread is suspended in a call, if it is.
    pub(crate) fn suspended_in(&self, call: usize) -> Option<u32> {
        self.suspended.iter().find(|it| it.call == call).map(|it| it.after)
    }

    /// The text of a call with what it waits for, what it sets, and where its thread is suspended.
    pub(crate) fn marked(&self, call: usize, label: &str) -> String {
        let waits = crate::spec::order::members(self.awaited_by(call)).filter_map(|sets| self.flag_of(sets));
        let waits: String = waits.map(|flag| format!("?{} ", letter(flag))).collect();
        let sets = self.flag_of(call).map(|flag| format!(" !{}", letter(flag))).unwrap_or_default();
        let suspended = self.suspended_in(call).map(|after| format!(" @{after}")).unwrap_or_default();
        format!("{waits}{label}{sets}{suspended}")
    }

    /// Reads a scenario. `known` has the calls that there are, each with its text.
    ///
    /// # Errors
    /// Why the text is no scenario.
    pub(crate) fn parse(text: &str, known: &[(String, Call)]) -> Result<Self, String> {
        Reader::new(text, known).read()
    }
}

/// The name of a flag.
fn letter(flag: usize) -> char {
    char::from(b'a' + u8::try_from(flag).expect("there are few flags"))
}

/// All sequences of the numbers below `count`.
pub(crate) fn permutations(count: usize) -> Vec<Vec<usize>> {
    let grow = |all: Vec<Vec<usize>>, new: usize| {
        let put = |old: &Vec<usize>| {
            let old = old.clone();
            (0..=old.len()).map(move |at| [&old[..at], &[new], &old[at..]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(put).collect()
    };
    (0..count).fold(vec![Vec::new()], grow)
}

/// The part of a scenario to which the next call belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Start,
    Init,
    Threads,
    End,
    Over,
}

struct Reader<'t> {
    rest: &'t str,
    known: &'t [(String, Call)],
    scenario: Scenario,
    part: Part,
    /// The flags that calls set, as thread and place in it.
    sets: Vec<(char, (usize, usize))>,
    waits: Vec<(char, (usize, usize))>,
    /// The calls in which threads are suspended, with the number of operations.
    suspended: Vec<((usize, usize), u32)>,
}

impl<'t> Reader<'t> {
    fn new(rest: &'t str, known: &'t [(String, Call)]) -> Self {
        let (scenario, part) = (Scenario::default(), Part::Start);
        Self { rest, known, scenario, part, sets: Vec::new(), waits: Vec::new(), suspended: Vec::new() }
    }

    fn read(mut self) -> Result<Scenario, String> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', ',', '\t', '\n']);
            let Some(first) = self.rest.chars().next() else { return self.finish() };
            match (first, self.part) {
                ('[', Part::Start) => self.enter(Part::Init),
                ('[', Part::Threads) => self.enter(Part::End),
                (']', Part::Init) => self.enter(Part::Threads),
                (']', Part::End) => self.enter(Part::Over),
                ('|', Part::Threads) => self.enter(Part::Threads),
                ('!' | '?', Part::Start | Part::Threads) => self.mark(first)?,
                ('@', Part::Threads) => self.suspend()?,
                _ => self.call()?,
            }
        }
    }

    fn enter(&mut self, part: Part) {
        self.rest = &self.rest[1..];
        self.part = part;
        if part == Part::Threads {
            self.scenario.threads.push(Vec::new());
        }
    }

    /// A flag: one that the call before sets, or for which the next call waits.
    fn mark(&mut self, sign: char) -> Result<(), String> {
        let name = self.rest[1..].chars().next().filter(char::is_ascii_lowercase);
        let name = name.ok_or_else(|| format!("after `{sign}` there must be the name of a flag, one letter"))?;
        self.rest = &self.rest[2..];
        let (thread, place) = self.place();
        match (sign, place.checked_sub(1)) {
            ('!', Some(_)) if self.sets.iter().any(|&(other, _)| other == name) => {
                return Err(format!("two calls set the flag `{name}`"));
            }
            ('!', Some(place)) => self.sets.push((name, (thread, place))),
            ('!', None) => return Err(format!("`!{name}` must be behind the call that sets the flag")),
            _ => self.waits.push((name, (thread, place))),
        }
        Ok(())
    }

    /// A suspension in the call before.
    fn suspend(&mut self) -> Result<(), String> {
        let digits = self.rest[1..].chars().take_while(char::is_ascii_digit).count();
        let after = self.rest[1..=digits].parse().map_err(|_| "after `@` there must be a number of operations")?;
        self.rest = &self.rest[1 + digits..];
        let (thread, place) = self.place();
        let place = place.checked_sub(1).ok_or("`@` must be behind the call in which the thread is suspended")?;
        self.suspended.push(((thread, place), after));
        Ok(())
    }

    /// The place of the next call of the threads.
    fn place(&mut self) -> (usize, usize) {
        if self.part == Part::Start {
            self.part = Part::Threads;
            self.scenario.threads.push(Vec::new());
        }
        (self.scenario.threads.len() - 1, self.scenario.threads.last().map_or(0, Vec::len))
    }

    fn call(&mut self) -> Result<(), String> {
        let longest = self.known.iter().filter(|(label, _)| self.rest.starts_with(&**label));
        let Some((label, call)) = longest.max_by_key(|(label, _)| label.len()) else {
            let known: Vec<&str> = self.known.iter().map(|(label, _)| &**label).collect();
            return Err(format!("there is no call at `{}`; known are {}", self.rest, known.join(", ")));
        };
        self.rest = &self.rest[label.len()..];
        match self.part {
            Part::Init => self.scenario.init.push(*call),
            Part::End => self.scenario.end.push(*call),
            Part::Over => return Err(format!("`{label}` comes after the end")),
            Part::Start | Part::Threads => {
                let (thread, _) = self.place();
                self.scenario.threads[thread].push(*call);
            }
        }
        Ok(())
    }

    /// The suspensions of the scenario, whose calls are all known.
    fn suspensions(&self) -> Result<Vec<Suspended>, String> {
        let numbers = self.scenario.numbers();
        let mut found = Vec::new();
        for &((thread, place), after) in &self.suspended {
            let is_last = place + 1 == self.scenario.threads[thread].len();
            let is_awaited = self.sets.iter().any(|&(_, sets)| sets == (thread, place));
            let call = numbers[thread].start + place;
            if !is_last || is_awaited || !self.scenario.end.is_empty() {
                return Err("nothing comes after a call in which a thread is suspended".to_owned());
            }
            if found.iter().any(|other: &Suspended| other.call == call) {
                return Err("a thread is suspended twice".to_owned());
            }
            found.push(Suspended { call, after });
        }
        match found.len() == self.scenario.threads.len() {
            true => Err("all threads are suspended".to_owned()),
            false => Ok(found),
        }
    }

    fn finish(mut self) -> Result<Scenario, String> {
        if matches!(self.part, Part::Init | Part::End) {
            return Err("a bracket is not closed".to_owned());
        }
        if self.scenario.threads.is_empty() || self.scenario.threads.iter().any(Vec::is_empty) {
            return Err("there is a thread without a call".to_owned());
        }
        if self.scenario.len() > MOST_CALLS {
            return Err(format!("a scenario has at most {MOST_CALLS} calls"));
        }
        self.scenario.suspended = self.suspensions()?;
        let numbers = self.scenario.numbers();
        let number = |(thread, place): (usize, usize)| numbers[thread].start + place;
        for &(flag, waits) in &self.waits {
            let is_call = waits.1 < self.scenario.threads[waits.0].len();
            let sets = self.sets.iter().find(|(other, _)| *other == flag);
            match sets {
                Some(&(_, sets)) if is_call => self.scenario.signals.push((number(sets), number(waits))),
                Some(_) => return Err(format!("there is no call behind `?{flag}`")),
                None => return Err(format!("no call sets the flag `{flag}`")),
            }
        }
        self.scenario.signals.sort_unstable();
        match self.scenario.order() {
            Some(_) => Ok(self.scenario),
            None => Err("calls wait for each other in a circle".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<(String, Call)> {
        let labels = ["push(1)", "push(12)", "pop()"];
        labels.iter().enumerate().map(|(value, label)| ((*label).to_owned(), Call { operation: 0, value })).collect()
    }

    fn label(call: Call) -> String {
        known()[call.value].0.clone()
    }

    fn read(text: &str) -> Result<Scenario, String> {
        Scenario::parse(text, &known())
    }

    #[test]
    fn texts_are_read_as_they_are_written() {
        for text in [
            "push(1)",
            "push(1), pop() | push(12) | pop()",
            "[push(1)] pop() | pop() [pop(), pop()]",
            "push(1) !a, pop() | ?a push(12) !b | ?a ?b pop()",
            "[pop()] push(1) !a | pop(), ?a push(12), pop() [pop()]",
            "[pop()] push(1) !a | pop(), ?a push(12) @10",
            "push(1) @2 | pop(), pop() | pop() @1",
        ] {
            assert_eq!(read(text).unwrap().text(&label), text);
        }
        let scenario = read("push(1) !a pop()|?a push(12)").unwrap();
        assert_eq!(scenario.text(&label), "push(1) !a, pop() | ?a push(12)");
        assert_eq!(scenario.signals, [(0, 2)]);
    }

    #[test]
    fn orders_are_those_of_clients() {
        let pairs = |text: &str| read(text).unwrap().order().unwrap().beyond(&Order::none(read(text).unwrap().len()));
        assert_eq!(pairs("[push(1)] pop(), pop() | pop() [pop()]"), [(0, 1), (0, 3), (1, 2), (2, 4), (3, 4)]);
        assert_eq!(pairs("push(1) !a | ?a pop(), pop()"), [(0, 1), (1, 2)]);
        assert_eq!(pairs("push(1), push(1) !a | ?a pop() | pop()"), [(0, 1), (1, 2)]);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (text, part) in [
            ("", "a thread without a call"),
            ("push(1) | ", "a thread without a call"),
            ("push(2)", "there is no call at `push(2)`; known are push(1), push(12), pop()"),
            ("[push(1)", "a bracket is not closed"),
            ("push(1) !a | pop() !a | ?a pop()", "two calls set the flag `a`"),
            ("push(1) [pop()] pop()", "`pop()` comes after the end"),
            ("push(1) | ?a pop()", "no call sets the flag `a`"),
            ("push(1) !a ?a", "no call behind `?a`"),
            ("!a push(1)", "must be behind the call"),
            ("?a push(1) !b | ?b pop() !a", "in a circle"),
            ("push(1) !A", "one letter"),
            ("push(1) @ | pop()", "a number of operations"),
            ("push(1) @99999999999 | pop()", "a number of operations"),
            ("push(1) | @1 pop()", "must be behind the call"),
            ("push(1) @1 | pop() @1", "all threads are suspended"),
            ("push(1) @1 @2 | pop()", "a thread is suspended twice"),
            ("push(1) @1, pop() | pop()", "nothing comes after"),
            ("push(1) @1 | pop() [pop()]", "nothing comes after"),
            ("push(1) @1 !a | ?a pop()", "nothing comes after"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_order_of_threads_makes_no_difference() {
        let canonical = |text: &str| read(text).unwrap().images().into_iter().min();
        assert_eq!(canonical("push(1) !a | ?a pop()"), canonical("?a pop() | push(1) !a"));
        assert_eq!(
            canonical("pop() !a, pop() | ?a pop() | push(1)"),
            canonical("push(1) | ?a pop() | pop() !a, pop()")
        );
        assert_ne!(canonical("pop() !a | ?a push(1)"), canonical("?a pop() | push(1) !a"));
        assert_eq!(canonical("pop() @2 | pop()"), canonical("pop() | pop() @2"));
        assert_ne!(canonical("pop() @2 | push(1)"), canonical("pop() | push(1) @2"));
        assert_eq!(canonical("pop() @2 | pop() @1 | pop()"), canonical("pop() | pop() @1 | pop() @2"));
        let all: std::collections::HashSet<_> = permutations(4).into_iter().collect();
        assert_eq!(all.len(), 24);
    }
}
