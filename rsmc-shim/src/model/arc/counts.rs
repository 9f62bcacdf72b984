//! Counts of references.
//!
//! Plain sharing is in nearly every test and must not multiply executions, so counting is no step of a check: std's
//! `Arc`, which is inside ours, knows the counts, and a drop only orders what came before it. But once a program
//! observes a count while other threads could change it, the check starts again, and the counts of all `Arc`s of that
//! type are modelled atomics, on which operations do what std's code does. Then a program gets the modelled counts.
//! Those of std's `Arc` follow, and come into it only where std has references of its own.
//!
//! Deviations. (1) A loop of std around a compare-exchange is one step. (2) When the last strong reference goes, std
//! drops a weak one that all strong ones had. No program can tell: the weak count counts no more once the strong one
//! is 0.

use std::any::type_name;
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{self, Acquire, Relaxed, Release},
};

use rsmc_core::machine::Outcome;
use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::runtime::{Birth, Reference, hook};
use rsmc_core::trace::{Action, CallResult, Rmw, RmwKind};

use rsmc_core::runtime::Identity;

/// The state that all references to one value share besides the value.
pub(super) struct Shared {
    strong: Identity,
    weak: Identity,
    /// The name of the type of the value, as the same `Arc` had it first.
    type_name: &'static str,
    /// The check's record that the value is there, if it was created in a check.
    birth: Option<Birth>,
    /// Raw pointers to the value were given out, and `raw` knows the way back.
    pub(super) raw: AtomicBool,
    /// References are put on record.
    has_record: bool,
    /// Where one reference has a state of its own: the one that all have, and its record.
    traced: Option<Traced>,
}

/// The record of a reference, in the run that is reported: who still has one is told by those that are left.
struct Traced {
    all: StdArc<Shared>,
    reference: Option<Reference>,
}

impl Drop for Traced {
    fn drop(&mut self) {
        if let Some(reference) = self.reference {
            hook::counts::reference_ends(reference);
        }
    }
}

/// The weak count while a thread checks that its reference is the only one.
const LOCKED: u64 = u64::MAX;

/// The kind of a count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// The number of strong references.
    Strong,
    /// The number of weak references, and one more.
    Weak,
}

impl Shared {
    /// The state of a new value of type `T`, for its first reference.
    #[inline]
    #[track_caller]
    pub(super) fn of_new<T: ?Sized>() -> StdArc<Self> {
        let all = Self::with::<T>(hook::counts::born("Arc"));
        if all.has_record { Self::recorded(all, "new") } else { all }
    }

    /// The state for another strong reference, made by the call `verb`.
    #[inline]
    #[track_caller]
    pub(super) fn another(this: &StdArc<Self>, verb: &'static str) -> StdArc<Self> {
        if this.has_record { Self::recorded(Self::of_all(this), verb) } else { StdArc::clone(this) }
    }

    #[cold]
    #[track_caller]
    fn recorded(all: StdArc<Self>, verb: &'static str) -> StdArc<Self> {
        // No closure: it would have a place of its own.
        let Some(birth) = all.birth else { return all };
        match hook::counts::referenced(birth, verb) {
            Some(reference) => Self::traced(all, reference),
            None => all,
        }
    }

    /// The state for a strong reference made of a pointer.
    #[track_caller]
    pub(super) fn taken_back(all: StdArc<Self>) -> StdArc<Self> {
        let Some(birth) = all.birth.filter(|birth| birth.has_record) else { return all };
        match hook::counts::reference_taken_back(birth) {
            Some(reference) => Self::traced(all, reference),
            None => all,
        }
    }

    /// Notes that the reference with this state becomes a pointer.
    #[track_caller]
    pub(super) fn given_out(mut this: StdArc<Self>) {
        let traced = StdArc::get_mut(&mut this).and_then(|own| own.traced.as_mut());
        if let Some(reference) = traced.and_then(|traced| traced.reference.take()) {
            hook::counts::reference_given_out(reference);
        }
    }

    /// The state that all references have, for one that is not on record.
    #[inline]
    pub(super) fn of_all(this: &StdArc<Self>) -> StdArc<Self> {
        StdArc::clone(this.traced.as_ref().map_or(this, |traced| &traced.all))
    }

    #[cold]
    fn traced(all: StdArc<Self>, reference: Reference) -> StdArc<Self> {
        let (type_name, birth) = (all.type_name, all.birth);
        let make = || {
            let (strong, weak, raw) = (Identity::new(), Identity::new(), AtomicBool::new(false));
            let traced = Some(Traced { all, reference: Some(reference) });
            StdArc::new(Self { strong, weak, type_name, birth, raw, has_record: true, traced })
        };
        hook::counts::aside(make)
    }

    /// The state that all references have.
    #[inline]
    pub(super) fn all(&self) -> &Self {
        self.traced.as_ref().map_or(self, |traced| &traced.all)
    }

    /// The state of a value of type `T` of which std may have references as well.
    #[track_caller]
    pub(super) fn of<T: ?Sized>() -> StdArc<Self> {
        Self::with::<T>(None)
    }

    /// Notes that the value is about to be dropped or taken out.
    pub(super) fn value_goes(&self) {
        self.birth.map(hook::counts::died);
    }

    #[track_caller]
    fn with<T: ?Sized>(birth: Option<Birth>) -> StdArc<Self> {
        let (strong, weak, raw) = (Identity::new(), Identity::new(), AtomicBool::new(false));
        let has_record = birth.is_some_and(|birth| birth.has_record);
        StdArc::new(Self { strong, weak, type_name: type_name::<T>(), birth, raw, has_record, traced: None })
    }

    /// Whether counting consists of steps.
    #[inline]
    pub(super) fn is_counted(&self) -> bool {
        hook::counts::counts_are_steps(self.type_name)
    }

    /// Notes that a count is about to change at this place, or in a destructor; true if that is a step, which the
    /// caller has to perform.
    #[inline]
    #[track_caller]
    pub(super) fn counting(&self, place: Option<&'static Location<'static>>) -> bool {
        match hook::counts::counting_is_a_step(self.type_name) {
            Some(is_step) => is_step,
            None => {
                self.meet(place);
                false
            }
        }
    }

    /// Checks that a reference is used at this place, or dropped where there is none, by a thread that the check knows.
    #[inline]
    pub(super) fn meet(&self, place: Option<&'static Location<'static>>) {
        if let Some(birth) = self.birth {
            hook::objects::meets_of(birth.execution, self.all().strong.object("Arc"), place);
        }
    }

    /// Notes that the program is about to observe a count; true if that is a step.
    #[track_caller]
    pub(super) fn observe(&self) -> bool {
        self.meet(Some(Location::caller()));
        hook::counts::counts_observed(self.type_name);
        self.is_counted()
    }

    /// Drops the value, after the last reference.
    pub(super) fn drop_value(&self, drop: impl FnOnce()) {
        hook::counts::dropping(self.all().strong.object("Arc"), self.type_name, drop);
    }

    /// Notes the drop of a reference where that is no step; `last` says that no other is left.
    #[inline]
    #[track_caller]
    pub(super) fn dropped(&self, last: bool) {
        hook::counts::reference_dropped(self.all().strong.object("Arc"), self.type_name, last);
    }

    /// Begins a call of a method, which a report shows as one row. `strong_now` is the strong count where no step has
    /// used it before. A destructor has no place.
    pub(super) fn call(
        &self,
        place: Option<&'static Location<'static>>,
        strong_now: usize,
        verb: &'static str,
    ) -> Option<InCall> {
        let begin = || calls::begin(place, self.all().strong.object("Arc"), || strong_now as u64, "Arc", verb);
        self.is_counted().then(begin)
    }

    /// The strong count, read by a step. `now` is its value where no step has used it before.
    #[track_caller]
    pub(super) fn strong(&self, now: usize) -> usize {
        let count = self.access(Count::Strong, now, Action::Load, Relaxed, Relaxed).read;
        calls::decide(CallResult::Number(count));
        count as usize
    }

    /// The number of weak references, read by a step: none while their count is locked.
    #[track_caller]
    pub(super) fn weak(&self, now: usize, order: Ordering) -> usize {
        let count = match self.access(Count::Weak, now, Action::Load, order, order).read {
            LOCKED => 0,
            count => count - 1,
        };
        calls::decide(CallResult::Number(count));
        count as usize
    }

    /// Whether a strong reference is the only one, strong or weak. No thread makes a weak one of another meanwhile.
    #[track_caller]
    pub(super) fn is_unique(&self, strong_now: usize, weak_now: usize) -> bool {
        let lock = Action::Cas { expected: 1, new: LOCKED, weak: false };
        if self.access(Count::Weak, weak_now, lock, Acquire, Relaxed).written.is_none() {
            calls::decide(CallResult::Is("None"));
            return false;
        }
        let is_unique = self.access(Count::Strong, strong_now, Action::Load, Acquire, Acquire).read == 1;
        calls::decide(CallResult::Is(if is_unique { "Some" } else { "None" }));
        self.access(Count::Weak, weak_now, Action::Store(1), Release, Release);
        is_unique
    }

    /// Adds to the count by a step, for a thread that has a reference of the kind that is counted.
    #[track_caller]
    pub(super) fn add(&self, count: Count, now: usize) {
        self.update(count, now, RmwKind::Add, Relaxed);
    }

    /// Adds a weak reference, for a thread that has a strong one: waits while the weak count is locked.
    #[track_caller]
    pub(super) fn downgrade(&self, now: usize) {
        let since = hook::loops::begins_to_wait();
        loop {
            hook::loops::waits(since);
            let added = self.access(Count::Weak, now, Action::AddUnless(LOCKED), Acquire, Relaxed);
            if added.written.is_some() {
                return calls::decide(CallResult::References(added.read, "weak"));
            }
        }
    }

    /// Subtracts from the count by a step; true if none is left.
    #[track_caller]
    pub(super) fn subtract(&self, count: Count, now: usize) -> bool {
        let last = self.update(count, now, RmwKind::Sub, Release) == 1;
        if last {
            hook::atomics::fence_within(Acquire);
        }
        last
    }

    /// Adds a strong reference by a step, unless there is none.
    #[track_caller]
    pub(super) fn upgrade(&self, now: usize) -> bool {
        let upgraded = self.access(Count::Strong, now, Action::AddUnless(0), Acquire, Relaxed).written.is_some();
        calls::decide(CallResult::Is(if upgraded { "Some" } else { "None" }));
        upgraded
    }

    /// Takes the only strong reference by a step; false if there are others.
    #[track_caller]
    pub(super) fn take(&self, now: usize, order: Ordering) -> bool {
        let take = Action::Cas { expected: 1, new: 0, weak: false };
        let is_only = self.access(Count::Strong, now, take, order, Relaxed).written.is_some();
        calls::decide(CallResult::Remark(if is_only { "the only one" } else { "there are others" }));
        is_only
    }

    /// Restores by a step the strong reference that [`take`](Self::take) took.
    #[track_caller]
    pub(super) fn give_back(&self) {
        self.access(Count::Strong, 1, Action::Store(1), Release, Release);
    }

    /// Adds by a step the first strong reference to a value that had weak ones only.
    #[track_caller]
    pub(super) fn complete(&self) {
        self.update(Count::Strong, 0, RmwKind::Add, Release);
    }

    #[track_caller]
    fn update(&self, count: Count, now: usize, kind: RmwKind, order: Ordering) -> u64 {
        let read = self.access(count, now, Action::Rmw(Rmw { kind, operand: 1, bits: 64 }), order, order).read;
        let new = if kind == RmwKind::Add { read + 1 } else { read - 1 };
        calls::decide(match count {
            Count::Strong => CallResult::References(new, "strong"),
            Count::Weak => CallResult::References(new - 1, "weak"),
        });
        read
    }

    #[track_caller]
    fn access(&self, count: Count, now: usize, action: Action, order: Ordering, failure: Ordering) -> Outcome {
        let object = match count {
            Count::Strong => self.all().strong.object("Arc"),
            Count::Weak => self.all().weak.object("Weak"),
        };
        let init = now as u64 + u64::from(count == Count::Weak);
        hook::objects::access(object, || init, action, order, failure).expect("counting is a step in a check only")
    }
}
