//! The schedules that a run shows to be possible at the decisions of its path.

use crate::base::Digest;
use crate::explore::rf_smc::bound::{self, Candidate};
use crate::explore::rf_smc::canonical_parent::{Child, has_canonical_parents, new_write};
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::revisit::{Asked, Extent, OpRef, Question, Revisit};
use crate::explore::rf_smc::schedule::{Chosen, Schedule, SetAside};
use crate::explore::rf_smc::steps::Packed;
use crate::explore::rf_smc::witness_finder::Standing;
use crate::explore::rf_smc::{RfSmc, wait};
use crate::step::Run;

impl RfSmc {
    /// Adds to every decision the schedules that this run shows to be possible, or plans to explore them at once. The
    /// run's parent added those of the first `known` decisions, so these get only schedules that need something new.
    pub(super) fn discover(&mut self, run: &Run, known: usize) {
        // Where a thread waits, the alternatives depend on more than what is new.
        let depends = !(run.waiting.is_empty() && run.waits.is_empty());
        let is_received = matches!(self.current, Chosen::Branch(_));
        let mut children = Vec::new();
        let is_frozen = |decision: &&Decision| depends && decision.frozen;
        let mut frozen: Vec<_> = self.decisions.iter().filter(is_frozen).map(|decision| decision.id.thread).collect();
        // The entries of `τ` before this place are those of the run's parent.
        let changed = known.checked_sub(1).map_or(0, |last| self.decisions[last].at);
        for number in (0..self.decisions.len()).rev() {
            let at = self.frame.turn_to(&self.decisions[number]);
            if depends {
                self.decisions[number].settled = usize::MAX;
            }
            if cfg!(debug_assertions) && number < known && self.decisions[number].full {
                self.compare_settled(run, number, at, changed);
            }
            let decision = &self.decisions[number];
            let extent = match decision.full {
                true if number < known && decision.settled > changed => Extent::Behind,
                _ if number < known && !depends => Extent::New(&self.frame.delta),
                _ => Extent::All,
            };
            if let Some(at) = at.filter(|_| decision.full && is_received) {
                // Another process wrote that flag, and the data may be damaged (`sound`).
                let has = has_canonical_parents(run, &self.graph, self.frame.ahead(), decision.question, at);
                self.decisions[number].full = has;
                self.decisions[number].settled = usize::MAX;
            }
            let decision = &self.decisions[number];
            if decision.frozen {
                frozen.pop();
            }
            let asked = Asked { run, graph: &self.graph, ahead: self.frame.ahead(), frozen: &frozen, extent };
            match at {
                Some(at) => self.revisits.at_event(&asked, decision.question, at),
                None => self.revisits.at_frozen(&asked, decision.id),
            }
            self.discover_at(run, number, at, &mut children);
        }
        self.suspended.plan(children);
        self.plan_previews(run);
    }

    /// Asserts that this run, whose entries of `τ` before `changed` are those of its parent, has no canonical children
    /// but for new writes at a decision that is settled there.
    fn compare_settled(&mut self, run: &Run, number: usize, at: Option<usize>, changed: usize) {
        let decision = &self.decisions[number];
        let settled = decision.settled;
        let Some(at) = at.filter(|_| settled <= changed) else { return };
        let (graph, ahead) = (&self.graph, self.frame.ahead());
        let asked = Asked { run, graph, ahead, frozen: &[], extent: Extent::Behind };
        self.revisits.at_event(&asked, decision.question, at);
        for revisit in std::mem::take(&mut self.revisits.found) {
            self.finder.sequence.revisit(run, &self.graph, &self.frame, &self.decisions[number], &revisit);
            let key = self.finder.sequence.key(run, &self.frame);
            let is_new = revisit.source.and_then(OpRef::event).is_some_and(|write| self.frame.delta.has(write));
            let is_known = is_new || self.decisions[number].seen.contains(key);
            assert!(is_known || self.is_canonical_parent(run, number, Some(at), &revisit) != Some(true));
        }
        self.decisions[number].settled = settled;
    }

    /// Adds the schedules of the revisits that were found at one decision, at which this event stands, or none.
    fn discover_at(&mut self, run: &Run, number: usize, at: Option<usize>, children: &mut Vec<(usize, Chosen)>) {
        // If the thread may stay where it is: the number of reads that were known before the newest that says so.
        let mut stays_since: Option<u32> = None;
        let found = std::mem::take(&mut self.revisits.found);
        for revisit in &found {
            if run.has_waits() {
                self.decisions[number].contested |= wait::may_be_reversed(run, revisit);
                if self.waits.reversed_repeats(run, revisit) {
                    continue; // The decision of that event has the answer that its thread stays where it is.
                }
                if let Some(since) = self.waits.repeats(run, revisit) {
                    stays_since = stays_since.max(Some(since).filter(|_| !wait::goes_on_anyway(revisit)));
                    continue;
                }
            }
            self.finder.sequence.revisit(run, &self.graph, &self.frame, &self.decisions[number], revisit);
            match self.is_canonical_parent(run, number, at, revisit) {
                None => self.add_by_name(run, number),
                Some(false) => {}
                Some(true) => children.extend(self.canonical_child(run, number)),
            }
        }
        self.revisits.found = found;
        if run.has_waits() {
            if let Some(at) = at {
                stays_since = stays_since.max(self.waited_otherwise(run, number, at));
            }
            let (decision, stays) = (&self.decisions[number], stays_since.is_some());
            let is_new = stays_since.is_some_and(|since| since >= decision.asked);
            let may_stay_again = is_new && at.is_some() && decision.stays.is_some() && !decision.plans_to_stay();
            if may_stay_again || stays && decision.contested && decision.stays.is_none() {
                self.discover_waiting(run, number);
            }
            if let Some(at) = at {
                self.note_unknown(run, number, at);
            }
        }
        let decision = &mut self.decisions[number];
        let is_enough = !decision.full && self.budget.has_enough(decision);
        if let Some(at) = at.filter(|_| is_enough) {
            decision.full = has_canonical_parents(run, &self.graph, self.frame.ahead(), decision.question, at);
        }
    }

    /// If the thread of an event at a decision would wait there if others had not seen it, or if it came before others:
    /// the number of reads that were known before the newest that says so. Notes whether the decision is contested.
    fn waited_otherwise(&mut self, run: &Run, number: usize, at: usize) -> Option<u32> {
        let (above, below) = self.decisions.split_at_mut(number);
        let decision = &mut below[0];
        let mut since = None;
        if decision.question == Question::Source {
            let is_frozen = || above.iter().any(|other| other.frozen && other.id.thread == decision.id.thread);
            let asked = Asked { run, graph: &self.graph, ahead: self.frame.ahead(), frozen: &[], extent: Extent::All };
            since = self.waits.was_seen(run, at).filter(|_| !is_frozen());
            since = since.max(self.waits.repeats_earlier(&asked, at));
        }
        decision.contested = decision.contested || since.is_some() || wait::is_contested(run, &self.graph, at);
        since
    }

    /// Adds the answer that the thread of a decision stays where it is.
    pub(super) fn discover_waiting(&mut self, run: &Run, number: usize) {
        self.finder.sequence.end_before_decision(run);
        let stay = self.find_witness(run, number);
        self.add_stay(number, stay);
    }

    /// Whether this run is the canonical parent of the new sequence, at a decision whose set takes no more names.
    /// `None`: the sequence needs a name.
    fn is_canonical_parent(&mut self, run: &Run, number: usize, at: Option<usize>, revisit: &Revisit) -> Option<bool> {
        let decision = &self.decisions[number];
        let (reader, graph) = (at.filter(|_| decision.full)?, &self.graph);
        let write = new_write(self.frame.ahead(), revisit)?;
        self.finder.sequence.find_unchanged(&self.frame, decision);
        let (unchanged, is_reversed) = (self.finder.sequence.unchanged(), revisit.reversed.is_some());
        let child = Child { run, graph, unchanged, reader, write, is_reversed };
        let is_parent = child.is_sc().then(|| self.finder.canonical_parent.is_parent_of(&child))?;
        let reason = self.finder.canonical_parent.reason();
        let settled = reason.map_or(usize::MAX, |events| self.frame.last_of(events));
        let decision = &mut self.decisions[number];
        decision.settled = decision.settled.max(settled);
        Some(is_parent)
    }

    /// Adds the schedule of the new sequence to its decision, if the sequence is possible and was not seen.
    fn add_by_name(&mut self, run: &Run, number: usize) {
        let (decision, key) = (&mut self.decisions[number], self.finder.sequence.key(run, &self.frame));
        if decision.seen.insert(key) {
            self.budget.note_name(decision);
            if self.bound.most.is_some() && self.is_beyond_bound(run, number, key) {
                return;
            }
            if let Some(packed) = self.find_witness(run, number) {
                self.budget.add(&mut self.decisions[number], Schedule { key, packed });
            }
        }
    }

    /// Whether the new sequence is beyond the bound of preemptions. If the bound rises, its schedule is set aside.
    #[cold]
    fn is_beyond_bound(&mut self, run: &Run, number: usize, key: Digest) -> bool {
        let sequence = &mut self.finder.sequence;
        let (graph, frame, tau) = (&self.graph, &self.frame, &self.tau[..]);
        let (decision, above) = (&self.decisions[number], &self.decisions[..number]);
        sequence.find_unchanged(frame, decision);
        let candidate = Candidate { run, graph, frame, sequence, tau, decision, above };
        let Some(level) = self.bound.beyond(&candidate) else { return false };
        if self.bound.rises
            && level != bound::NEVER
            && let Some(packed) = self.find_witness(run, number)
        {
            self.decisions[number].set_aside(SetAside { level, schedule: Schedule { key, packed } });
        }
        true
    }

    /// The schedule of the new sequence, whose canonical parent this run is, unless it was seen before the set stopped
    /// taking names. A worker never explores inherited decisions; it returns the schedules that it discovers for them.
    fn canonical_child(&mut self, run: &Run, number: usize) -> Option<(usize, Chosen)> {
        let key = self.finder.sequence.key(run, &self.frame);
        if self.decisions[number].seen.contains(key) {
            return None;
        }
        let packed = self.find_witness(run, number);
        let packed = packed.expect("this is a bug in rsmc: a schedule has a canonical parent, and no execution");
        let schedule = Schedule { key, packed };
        if number < self.inherited {
            self.budget.add(&mut self.decisions[number], schedule);
            return None;
        }
        Some((number, Chosen::Schedule(schedule)))
    }

    /// A witness of the new sequence.
    pub(super) fn find_witness(&mut self, run: &Run, number: usize) -> Option<Packed> {
        let standing = Standing { run, frame: &self.frame, decision: &self.decisions[number] };
        self.finder.schedule(standing, &mut self.graph)
    }
}
