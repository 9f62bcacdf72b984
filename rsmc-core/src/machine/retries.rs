//! Attempts that came too late: a thread that goes on with what a failed compare-exchange returned is where it would be
//! if it had read that at once.
//!
//! Problem. Many lock-free functions read a value, compute another one, and put it there by a compare-exchange; if that
//! fails, they go on with the value that it returns. Each attempt may read any newer value, so `n` writes have `2^n`
//! such paths, which all come to the same.
//!
//! Method. Behind a compare-exchange that failed, the thread is in some [`State`]. If one of its reads of the same
//! location before, since it last changed something, would have brought it there at once by reading that value, then
//! what it did since can be left out, as an iteration that changes nothing (`pure`): the execution without it has the
//! same future, and orders less. That read must not order more than the compare-exchange that failed.
//!
//! Where a read brings a thread is a *question*. The execution is run up to the attempt without what may be left out,
//! the thread performs the read, which takes that value, and its next state is the answer. So what is left out depends
//! on the program only, and not on what was explored before. States are asked for at the reads of a location at whose
//! compare-exchange a thread was seen twice without a change in between.
//!
//! Only what a plan forced is left out: threads that run on are not overtaken between a read and the attempt.
//!
//! Cost. Two runs for each question, of which there is one for each state and value.
//!
//! Limits. A loop that counts its attempts is never where it was. Of one that writes memory in between states differ
//! from run to run, and nothing is left out.

use rustc_hash::FxHashMap;

use crate::base::ThreadId;
use crate::machine::Machine;
use crate::machine::visits::{State, Visit};
use crate::step::{Forced, Plan, Step};
use crate::trace::{Action, Effect, Event, Site, strongest};

/// The number of answers that are kept. Behind that all are forgotten, and asked again.
const MOST_ANSWERS: usize = 1 << 16;

/// The number of executions in which a question is asked. A thread may be in another state there, with an address of
/// ours in a register that a function of the user's has saved.
const MOST_TRIES: u32 = 6;

/// The knowledge about attempts.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// The places of operations at which states are asked for.
    sites: Vec<Site>,
    /// By state of a thread before a read, and the value that it takes: the state in which the thread comes to its next
    /// operation. `None` if it comes to none, or states differ from run to run.
    answers: FxHashMap<(State, u64), Option<State>>,
    question: Option<Box<Question>>,
    /// The question is asked in this execution.
    is_asked: bool,
    /// The reads of threads before which their states differ from run to run.
    unlike: Vec<(ThreadId, Site)>,
}

/// A question: where does a thread come that performs this operation in this state, and reads this value?
#[derive(Clone, Debug)]
struct Question {
    thread: ThreadId,
    from: State,
    /// The place of the operation.
    site: Site,
    value: u64,
    /// The execution in which the thread performs it: the last step is that.
    plan: Plan,
    /// The number of executions in which it was asked, of a thread in this state or another.
    tries: u32,
    /// It is or was asked in an execution.
    is_asked: bool,
    /// The thread was in this state before the operation.
    is_met: bool,
}

impl Retries {
    /// Begins an execution. Returns its plan if a question is asked in it.
    pub(super) fn begin(&mut self) -> Option<&Plan> {
        let question = self.question.as_mut().filter(|question| !question.is_asked);
        self.is_asked = question.is_some();
        let question = question?;
        (question.tries, question.is_asked) = (question.tries + 1, true);
        Some(&question.plan)
    }

    /// Ends an execution that is not run again: a question that is open needs no answer.
    pub(super) fn end(&mut self) {
        self.question = None;
    }

    /// The thread about which a question is asked in this execution.
    #[inline]
    pub(super) fn who_is_asked(&self) -> Option<ThreadId> {
        if self.is_asked { self.question.as_ref().map(|question| question.thread) } else { None }
    }

    /// Notes that the thread that is asked is in this state, before it performs the operation.
    fn is_before(&mut self, state: State) {
        if let Some(question) = &mut self.question {
            question.is_met |= question.from == state;
        }
    }

    /// The number of executions in which this question was asked in vain, of a thread in another state before the same
    /// read; `None` if another question is open.
    fn tries(&self, thread: ThreadId, site: Site) -> Option<u32> {
        match &self.question {
            Some(open) if (open.thread, open.site) != (thread, site) => None,
            open => Some(open.as_ref().map_or(0, |open| open.tries)),
        }
    }

    /// Whether states are asked for anywhere.
    pub(super) fn are_some(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Whether states are asked for at this place.
    #[inline]
    pub(super) fn asks_at(&self, site: Site) -> bool {
        !self.sites.is_empty() && self.sites.contains(&site)
    }

    /// Notes the answer to the question. If the thread was in another state before the operation, it stays open.
    pub(super) fn is_answered(&mut self, answer: Option<State>) {
        if let Some(question) = self.question.take_if(|question| question.is_met) {
            let Question { from, value, .. } = *question;
            if self.answers.len() == MOST_ANSWERS {
                self.answers.clear();
            }
            self.answers.insert((from, value), answer);
        }
    }
}

/// Whether an event only looks at an atomic.
fn is_look(event: &Event) -> bool {
    matches!(event.op.action, Action::Load | Action::Cas { .. }) && event.written.is_none()
}

impl Machine {
    /// Notes the places of the reads by which a thread came to a compare-exchange that failed, its last event, and this
    /// place behind it. Whether one of them is new: then the execution is over.
    pub(super) fn learns_of_retry(&mut self, thread: ThreadId, here: Site) -> bool {
        let Some(late) = self.late_attempt(thread) else { return false };
        let own = self.run.trace.of_thread(thread).iter().rev().map(|&at| &self.run.trace.events[at as usize]);
        let looks = own.take_while(|event| is_look(event)).filter(|event| event.op.loc == late.op.loc);
        let sites: Vec<Site> = looks.map(|event| event.op.site).chain([here]).collect();
        let known = self.retries.sites.len();
        for site in sites {
            if !self.retries.sites.contains(&site) {
                self.retries.sites.push(site);
            }
        }
        let is_new = self.retries.sites.len() > known;
        if is_new {
            self.give_up_to_run_again();
        }
        is_new
    }

    /// The last event of a thread, if it is a compare-exchange that failed because it came too late.
    fn late_attempt(&self, thread: ThreadId) -> Option<Event> {
        if !self.plan.leaves_out_retries || self.over {
            return None;
        }
        let last = self.run.trace.events[*self.run.trace.of_thread(thread).last()? as usize];
        (matches!(last.op.action, Action::Cas { .. }) && last.written.is_none()).then_some(last)
    }

    /// The visit from which a thread in this state could have come here at once. Asks a question if that is not known:
    /// then the execution is over.
    pub(super) fn overtaken(&mut self, thread: ThreadId, state: State, visits: &[Visit]) -> Option<Visit> {
        let late = self.late_attempt(thread)?;
        let own = self.run.trace.of_thread(thread);
        let event = |at: u32| &self.run.trace.events[at as usize];
        for &visit in visits.iter().take_while(|visit| (visit.events as usize) + 1 < own.len()) {
            let between = &own[visit.events as usize..];
            let first = event(between[0]);
            let (order, most) = (first.op.effective_order(false), late.op.effective_order(false));
            // One that finds what it looks for does not read that only.
            let may_be_left_out = first.op.loc == late.op.loc
                && first.op.action.effect(late.read) == Effect::Read
                && between.iter().all(|&at| is_look(event(at)))
                && strongest(order, most) == most
                && self.forced_of(thread, visit.events, between) > 0
                && !self.accessed_cells(thread, visit.notes)
                && !self.retries.unlike.contains(&(thread, first.op.site));
            if !may_be_left_out {
                continue;
            }
            match self.retries.answers.get(&(visit.state, late.read)) {
                Some(&answer) if answer == Some(state) => return Some(visit),
                Some(_) => {}
                None => match self.retries.tries(thread, first.op.site) {
                    None => {}
                    Some(MOST_TRIES..) => self.retries.unlike.push((thread, first.op.site)),
                    Some(tries) => {
                        let (from, value, site) = (visit.state, late.read, first.op.site);
                        let plan = self.plan_without(between);
                        let (is_asked, is_met) = (false, false);
                        let question = Question { thread, from, site, value, plan, tries, is_asked, is_met };
                        self.retries.question = Some(Box::new(question));
                        self.give_up_to_run_again();
                        return None;
                    }
                },
            }
        }
        None
    }

    /// The plan of this execution without these last events of a thread, which write nothing. Behind the others the
    /// thread performs the first of them, and takes what the last one took.
    fn plan_without(&self, gone: &[u32]) -> Plan {
        let mut plan = Plan::again(&self.run);
        let (mut at, mut last) = (0, None);
        plan.forced.retain(|forced| {
            let is_event = !matches!(forced.step, Step::Flush(_));
            let stays = !is_event || !gone.contains(&at);
            at += u32::from(is_event);
            if !stays {
                last = Some(forced.step);
            }
            stays
        });
        let step = match last {
            Some(Step::Choose { thread, takes, .. }) => {
                takes.map_or(Step::Run(thread), |write| Step::Take(thread, write))
            }
            step => step.expect("some events go"),
        };
        plan.forced.push(Forced { step, expect: None });
        plan
    }

    /// Notes that the thread about which a question is asked is in this state.
    pub(super) fn is_asked_in(&mut self, state: State) {
        match self.steps < self.plan.forced.len() {
            true => self.retries.is_before(state),
            false => self.answers(Some(state)),
        }
    }

    /// Ends the execution in which a question was asked.
    pub(super) fn answers(&mut self, answer: Option<State>) {
        self.retries.is_answered(answer);
        self.give_up_to_run_again();
    }
}
