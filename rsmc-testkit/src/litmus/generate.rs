//! Random programs, small enough that every interleaving can be run.
//!
//! The same seed, size and weights give the same program on every platform. Locks nest in any order, so deadlocks
//! happen; now and then an `unlock` is forgotten, a `park` has no `unpark`, an assertion fails.

use crate::litmus::draw::{Dice, Draw, LOCATIONS, LOCKS, Thread, cell_access, name_of};
use crate::litmus::{Location, Program, Stmt, StmtKind, ThreadProgram};

/// Bounds of a random program.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The largest number of threads besides main, at least 2.
    pub threads: usize,
    /// The largest number of locations, at least 1 and at most 6.
    pub locations: usize,
    /// The largest number of locks, at least 1 and at most 4.
    pub locks: usize,
    /// The largest number of visible operations and accesses of cells of all threads together. With 4 threads, 9
    /// operations have at most 7,560 interleavings, 10 have 25,200 and 12 have 369,600.
    pub operations: usize,
}

impl Default for Size {
    /// Up to 4 threads, 3 locations, 2 locks and 9 operations.
    fn default() -> Self {
        Self { threads: 4, locations: 3, locks: 2, operations: 9 }
    }
}

/// The frequency at which each statement is drawn, relative to the others.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are the statements")]
pub struct Weights {
    pub load: u32,
    pub store: u32,
    pub rmw: u32,
    pub cas: u32,
    pub fence: u32,
    /// `spin`, a hint.
    pub hint: u32,
    /// `lock`, what it guards, and mostly `unlock`.
    pub lock: u32,
    pub try_lock: u32,
    /// A read or write of a tracked cell, perhaps behind an `if`. Without weight the program has no cells; with one,
    /// every other program has a `main` with such accesses between spawns and joins.
    pub cell: u32,
    /// A read or write of a location that is no atomic operation, perhaps behind an `if`.
    pub plain: u32,
    /// `park` or `unpark`.
    pub park: u32,
    /// `if` on a register.
    pub branch: u32,
    /// A bounded `while` around a load.
    pub repeat: u32,
    pub assert: u32,
    /// A weak compare-exchange.
    pub weak_cas: u32,
    /// `choose` or `maybe`.
    pub choose: u32,
}

impl Weights {
    /// Loads, stores, fences and branches.
    pub const ATOMICS: Weights = Weights { load: 5, store: 5, fence: 1, branch: 2, ..Weights::NONE };
    /// Mostly read-modify-writes and compare-exchanges.
    pub const UPDATES: Weights = Weights { load: 2, store: 2, rmw: 4, cas: 4, branch: 2, ..Weights::NONE };
    /// Accesses with hints in between.
    pub const HINTS: Weights = Weights { load: 6, store: 4, rmw: 1, fence: 1, hint: 5, branch: 1, ..Weights::NONE };
    /// Mostly locks, often nested.
    pub const LOCKS: Weights = Weights { load: 2, store: 2, rmw: 1, lock: 12, try_lock: 2, branch: 1, ..Weights::NONE };
    /// Everything that there is.
    pub const EVERYTHING: Weights = Weights {
        load: 4,
        store: 4,
        rmw: 3,
        cas: 3,
        fence: 1,
        hint: 0,
        lock: 3,
        try_lock: 2,
        cell: 0,
        plain: 0,
        park: 2,
        branch: 3,
        repeat: 1,
        assert: 2,
        weak_cas: 0,
        choose: 0,
    };
    /// Weak compare-exchanges and choices among others.
    pub const CHOICES: Weights =
        Weights { load: 2, store: 2, rmw: 1, cas: 1, lock: 1, branch: 2, weak_cas: 5, choose: 2, ..Weights::NONE };

    const NONE: Weights = Weights {
        load: 0,
        store: 0,
        rmw: 0,
        cas: 0,
        fence: 0,
        hint: 0,
        lock: 0,
        try_lock: 0,
        cell: 0,
        plain: 0,
        park: 0,
        branch: 0,
        repeat: 0,
        assert: 0,
        weak_cas: 0,
        choose: 0,
    };

    pub(super) fn table(&self) -> [(Draw, u32); 16] {
        [
            (Draw::Load, self.load),
            (Draw::Store, self.store),
            (Draw::Rmw, self.rmw),
            (Draw::Cas, self.cas),
            (Draw::Fence, self.fence),
            (Draw::Hint, self.hint),
            (Draw::Lock, self.lock),
            (Draw::TryLock, self.try_lock),
            (Draw::Cell, self.cell),
            (Draw::Plain, self.plain),
            (Draw::Park, self.park),
            (Draw::Branch, self.branch),
            (Draw::Repeat, self.repeat),
            (Draw::Assert, self.assert),
            (Draw::WeakCas, self.weak_cas),
            (Draw::Choose, self.choose),
        ]
    }
}

/// The program of a seed.
pub fn random(seed: u64, size: Size, weights: &Weights) -> Program {
    let mut dice = Dice(seed);
    // Few threads more often than many: with few of them each has room to nest locks.
    let more = size.threads.saturating_sub(1).max(1);
    let threads = 2 + dice.below(more).min(dice.below(more));
    let locations = 1 + dice.below(size.locations.clamp(1, LOCATIONS.len()));
    let more = size.locks.clamp(1, LOCKS.len());
    let locks = 1 + dice.below(more).max(dice.below(more));
    let declared = LOCATIONS[..locations].iter().map(|name| {
        let init = if dice.one_in(4) { 1 } else { 0 };
        Location { name: (*name).to_owned(), init }
    });
    let mut program = Program { name: format!("random_{seed}"), locations: declared.collect(), ..Program::default() };
    let mut registers = 0;
    for number in 0..threads {
        let left = size.operations / threads + usize::from(number < size.operations % threads);
        let known = Vec::new();
        let thread = Thread { dice: &mut dice, weights, number, threads, locations, locks, registers, known, held: 0 };
        let (body, used) = thread.body(left);
        registers = used;
        program.threads.push(ThreadProgram { name: name_of(number), body, ..ThreadProgram::default() });
    }
    if weights.cell > 0 && dice.one_in(2) {
        program.main = Some(main(&mut dice, threads));
    }
    program.renumber();
    program
}

/// Spawns all threads and joins some of them, with accesses of cells here and there.
fn main(dice: &mut Dice, threads: usize) -> ThreadProgram {
    let mut body = Vec::new();
    let spawns = (0..threads).map(|thread| StmtKind::Spawn(name_of(thread)));
    let joins = (0..threads).map(|thread| StmtKind::Join(name_of(thread)));
    for stmt in spawns.chain(joins) {
        if matches!(stmt, StmtKind::Spawn(_)) || !dice.one_in(4) {
            body.push(Stmt::new(stmt));
        }
        if dice.one_in(4) {
            body.push(cell_access(dice));
        }
    }
    ThreadProgram { name: "main".to_owned(), body, ..ThreadProgram::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::{StmtKind, parse};

    const ALL: [Weights; 5] =
        [Weights::ATOMICS, Weights::UPDATES, Weights::LOCKS, Weights::EVERYTHING, Weights::CHOICES];

    #[test]
    fn a_seed_always_means_the_same_program() {
        let program = random(1, Size { operations: 5, ..Size::default() }, &Weights::EVERYTHING);
        let t1 = "t1:\n    z.rel = 2\n    r1 = cas(y.acqrel, 0, 1)\n";
        let t2 = "t2:\n    r2 = trylock m\n    if r2 {\n        unlock m\n    }\n";
        let t3 = "t3:\n    r3 = y.rlx\n";
        assert_eq!(program.to_string(), format!("name random_1\ninit x = 0, y = 0, z = 0\n{t1}{t2}{t3}"));
    }

    #[test]
    fn programs_are_valid_different_and_of_every_kind() {
        for weights in &ALL {
            let mut texts = std::collections::BTreeSet::new();
            for seed in 0..300 {
                let program = Program { name: String::new(), ..random(seed, Size::default(), weights) };
                let text = program.to_string();
                assert!(parse(&text).is_ok(), "{text}");
                texts.insert(text);
            }
            assert!(texts.len() > 290, "{} of 300 programs differ", texts.len());
        }
    }

    #[test]
    fn programs_with_cells_are_valid_and_guard_accesses() {
        let weights = Weights { cell: 6, ..Weights::EVERYTHING };
        let texts: Vec<String> = (0..300).map(|seed| random(seed, Size::default(), &weights).to_string()).collect();
        texts.iter().for_each(|text| assert!(parse(text).is_ok(), "{text}"));
        let having = |part: &str| texts.iter().filter(|text| text.contains(part)).count();
        for part in ["read c\n", "write c\n", "write d\n", " {\n        write c\n", "join t1\n    write c\n"] {
            assert!(having(part) > 3, "{part:?}: {}", having(part));
        }
    }

    #[test]
    fn weights_choose_the_statements() {
        for seed in 0..300 {
            random(seed, Size::default(), &Weights::ATOMICS).visit(|stmt| {
                assert!(!matches!(stmt.kind, StmtKind::Lock(_) | StmtKind::Rmw { .. } | StmtKind::Park), "{stmt:?}");
            });
        }
        let nested = (0..300).filter(|&seed| {
            let text = random(seed, Size::default(), &Weights::LOCKS).to_string();
            text.contains("lock m\n    lock n\n") && text.contains("lock n\n    lock m\n")
        });
        assert!(nested.count() > 3, "locks nest in opposite orders");
    }
}
