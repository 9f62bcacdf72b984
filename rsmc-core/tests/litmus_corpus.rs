//! The corpus: every file states exact outcomes and counts of classes, and brute force agrees with all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{RangeBounds, RangeInclusive};

use rsmc_core::base::Digest;
use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::runtime::Runtime;
use rsmc_core::session::{Check, Config, ExplorerKind, Seen};
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_core::trace::{outcome_digest, reads_from_class};
use rsmc_testkit::litmus::{Expectation, Interpreter, Outcome, parse};

use crate::corpus::corpus;
use crate::litmus_brute::brute;
use crate::litmus_walker as walker;

/// The memory models for which files state what they expect.
const MODELS: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

/// Happens-before classes are counted under SC only: with buffers, which of two stores comes first is not settled
/// when they are performed.
fn equivalences(memory: MemoryModel) -> impl Iterator<Item = &'static str> {
    Expectation::EQUIVALENCES.into_iter().filter(move |name| memory == MemoryModel::Sc || *name != "hb")
}

#[test]
fn brute_force_agrees() {
    let mut wrong = Vec::new();
    for ((name, program), memory) in corpus().iter().flat_map(|file| MODELS.map(|memory| (file, memory))) {
        let Some(found) = brute(program, memory, 1_000_000) else {
            wrong.push(format!("{name}: too many interleavings"));
            continue;
        };
        assert!(!found.cut, "{name}: an execution was cut short");
        let mut lines = Vec::new();
        let model = memory.to_string();
        if program.expected_outcomes(&model) != Some(&found.outcomes) {
            lines.push(format!("expect outcomes {model}: {}", found.outcomes_text()));
        }
        for equivalence in equivalences(memory) {
            let Some(count) = found.count(equivalence) else { continue };
            if program.expected_classes(equivalence, &model) != Some(count) {
                lines.push(format!("expect classes {equivalence}/{model}: {count}"));
            }
        }
        wrong.extend(lines.iter().map(|line| format!("{name}: {line}")));
    }
    assert!(wrong.is_empty(), "brute force finds\n{}", wrong.join("\n"));
}

#[test]
fn every_file_has_a_name_of_its_own_and_reads_back() {
    let corpus = corpus();
    let names: BTreeSet<&str> = corpus.iter().map(|(_, program)| program.name.as_str()).collect();
    assert_eq!(names.len(), corpus.len());
    for (name, program) in &corpus {
        assert_eq!(parse(&program.to_string()).as_ref(), Ok(program), "{name}");
    }
}

/// The reads-from classes that a check counts, with what each shows and how often it was run.
type Classes = BTreeMap<Digest, (Digest, u32)>;

/// The classes that a check counts, and how many runs it cut short.
fn explore(executor: &mut dyn Executor, memory: MemoryModel, explorer: ExplorerKind) -> (Classes, u64) {
    let mut classes = BTreeMap::new();
    let config = Config::default().memory(memory).explorer(explorer).keep_going(true);
    let report = Check::new(&config, executor)
        .watch(|seen| {
            let Seen::Run(run, counted) = seen else {
                classes.clear();
                return;
            };
            if counted {
                let class = classes.entry(reads_from_class(&run.trace)).or_insert((outcome_digest(&run.trace), 0));
                class.1 += 1;
            }
        })
        .run();
    (classes, report.blocked)
}

/// The mistake of an explorer that does not show all that brute force does, with so many executions, none twice.
fn mistake(every: &Classes, found: &Classes, count: impl RangeBounds<usize>) -> Option<String> {
    let shows = |classes: &Classes| classes.values().map(|class| class.0).collect::<BTreeSet<Digest>>();
    let lost = shows(every).difference(&shows(found)).count();
    let extra = found.iter().filter(|(class, shown)| every.get(class).is_none_or(|other| other.0 != shown.0)).count();
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let counted = count.contains(&found.len());
    (lost + extra + twice > 0 || !counted)
        .then(|| format!("{} executions, {lost} outcomes lost, {extra} executions wrong, {twice} double", found.len()))
}

/// Every explorer runs every file, on both executors.
#[test]
fn explorers_agree() {
    let mut wrong = Vec::new();
    for ((name, program), memory) in corpus().iter().flat_map(|file| MODELS.map(|memory| (file, memory))) {
        let count =
            |equivalence| program.expected_classes(equivalence, &memory.to_string()).unwrap_or_default() as usize;
        let (sources, views) = (count("rf"), count("view"));
        let rules = Rules::new(memory, 1_000);
        let body = || walker::body(program);
        let mut interpreter = Interpreter::new(program, rules).unwrap();
        let mut runtime = Runtime::new(&body, rules, 256 * 1024);
        let every = explore(&mut interpreter, memory, ExplorerKind::Exhaustive).0;
        let mut compare = |explorer, counts: RangeInclusive<usize>| {
            let waits = program.to_string().contains("while");
            let both = [&mut interpreter as &mut dyn Executor, &mut runtime];
            // Without the check's allocator the runtime only bounds loops, which has other classes.
            for executor in both.into_iter().take(if waits { 1 } else { 2 }) {
                let (found, blocked) = explore(executor, memory, explorer);
                if let Some(mistake) = mistake(&every, &found, counts.clone()) {
                    wrong.push(format!("{name}, {explorer} under {memory}, {counts:?} expected: {mistake}"));
                }
                if blocked > 0 && !waits && explorer != ExplorerKind::ReadsValueFrom {
                    wrong.push(format!("{name}, {explorer} under {memory}: {blocked} runs are cut short"));
                }
            }
        };
        compare(ExplorerKind::ReadsFrom, sources..=every.len());
        compare(ExplorerKind::View, views..=views);
        if memory == MemoryModel::Sc {
            compare(ExplorerKind::ReadsValueFrom, views..=sources);
        }
        if every.len() != sources {
            wrong.push(format!("{name} under {memory}: {} classes by brute force, {sources} expected", every.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// RF-SMC under C11 against what the axioms say (`c11_corpus.rs`), on both executors.
#[test]
fn c11_is_exact() {
    let (mut wrong, mut files) = (Vec::new(), 0);
    for (name, program) in corpus() {
        let Some(expected) = program.expected_classes("rf", "c11") else { continue };
        let rules = Rules::new(MemoryModel::C11, 1_000);
        let mut interpreter = Interpreter::new(&program, rules).unwrap();
        let outcomes = outcomes(&mut interpreter);
        if program.expected_outcomes("c11") != Some(&outcomes) {
            let found: Vec<String> = outcomes.iter().map(ToString::to_string).collect();
            wrong.push(format!("{name}: outcomes {}", found.join(" | ")));
        }
        let body = || walker::body(&program);
        let mut runtime = Runtime::new(&body, rules, 256 * 1024);
        for executor in [&mut interpreter as &mut dyn Executor, &mut runtime] {
            let (found, blocked) = explore(executor, MemoryModel::C11, ExplorerKind::ReadsFrom);
            let twice = found.values().filter(|(_, runs)| *runs > 1).count();
            if (found.len() as u64, twice, blocked) != (expected, 0, 0) {
                wrong.push(format!("{name}: {expected} classes, found {}, {twice} twice, {blocked} cut", found.len()));
            }
        }
        files += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files > 270, "{files} files say what is possible under C11");
}

/// The outcomes of all executions under C11.
fn outcomes(interpreter: &mut Interpreter) -> BTreeSet<Outcome> {
    let (mut explorer, mut plan, mut run) = (RfSmc::new(MemoryModel::C11), Plan::default(), Run::default());
    let mut outcomes = BTreeSet::new();
    while explorer.next_plan(&mut plan) {
        interpreter.execute(&plan, &mut run);
        outcomes.insert(interpreter.outcome());
        explorer.observe(&run);
    }
    outcomes
}
