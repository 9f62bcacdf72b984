//! The numbers of the papers' tables (`rows`): ours are counted, and compared with the papers' where they have the
//! equivalence. docs/seeds.md is the page of these rows.

use rsmc::{Explorer, MemoryModel};
use rsmc_testkit::lab::{self, OptimalDpor, SourceDpor};

use super::rows::{BUFFERED, ROWS, Row, page};
use super::{count, is_large, reads_from, reads_value_from};

/// Classes that are explored at most, in ordinary runs and in large ones: an execution of the explorers that compare
/// values takes longer.
const CLASSES: [u64; 2] = [5_000, 300_000];
const VALUES: [u64; 2] = [400, 30_000];
/// The explorer of the lab looks at each pair of events.
const TRACES: [u64; 2] = [5_000, 50_000];

fn is_wanted(known: Option<u64>, limits: [u64; 2]) -> bool {
    known.is_some_and(|known| known <= limits[usize::from(is_large())])
}

fn check(row: &Row) {
    let &Row { program, n, body, ours, .. } = row;
    let what = format!("{program}({n})");
    if is_wanted(ours.happens_before, TRACES) {
        let source = lab::count::<SourceDpor>(|| body(n));
        assert_eq!(Some(source.executions), ours.happens_before, "executions of source-DPOR of {what}");
        let optimal = lab::count::<OptimalDpor>(|| body(n));
        assert_eq!((Some(optimal.executions), optimal.redundant), (ours.happens_before, 0), "optimal DPOR of {what}");
    }
    if is_wanted(ours.reads_from, CLASSES) {
        let (classes, views) = reads_from(body, n, MemoryModel::Sc);
        assert_eq!(Some(classes), ours.reads_from, "reads-from classes of {what}");
        // Who had a lock before counts as a value, too.
        let is_locked = program == "exponential_bug";
        assert!(ours.views.is_none_or(|known| known == views || (is_locked && known > views)), "{what}: {views} views");
    }
    if is_wanted(ours.values, VALUES) {
        assert_eq!(Some(reads_value_from(body, n)), ours.values, "executions of reads-value-from of {what}");
    }
    if is_wanted(ours.views, VALUES) {
        let views = count(body, n, Explorer::View, MemoryModel::Sc);
        assert_eq!(Some(views), ours.views, "views of {what}");
    }
}

fn check_buffered(program: &str) {
    for row in BUFFERED.iter().filter(|row| row.program == program) {
        for (known, memory) in [(row.tso, MemoryModel::Tso), (row.pso, MemoryModel::Pso)] {
            if is_wanted(known, CLASSES) {
                assert_eq!(Some(reads_from(row.body, row.n, memory).0), known, "{program}({}) under {memory}", row.n);
            }
        }
    }
}

macro_rules! tests {
    ($($name:ident $program:literal;)+) => {
        /// The programs that have a test.
        const PROGRAMS: &[&str] = &[$($program),+];

        $(
            #[test]
            fn $name() {
                ROWS.iter().filter(|row| row.program == $program).for_each(check);
                check_buffered($program);
            }
        )+
    };
}

tests! {
    figure_4_1 "figure 4.1";
    monabsex1 "45_monabsex1";
    reorder_5 "reorder_5";
    singleton "singleton";
    unverif "13_unverif";
    approxds_append "approxds_append";
    pgsql "pgsql";
    stack_true "stack_true";
    sigma_false "sigma_false";
    fkp2013 "fkp2013";
    float_read "float_read";
    eratosthenes "eratosthenes";
    readinc "readinc";
    filesystem "filesystem";
    exponential_bug "exponential_bug";
    ttaslock_assume "ttaslock_assume";
}

#[test]
fn every_row_has_a_test() {
    assert!(ROWS.iter().all(|row| PROGRAMS.contains(&row.program)));
    assert!(BUFFERED.iter().all(|row| PROGRAMS.contains(&row.program)));
}

/// The numbers of a row from the finest equivalence to a coarser one, along each chain of equivalences.
fn chains(Row { papers, ours, .. }: &Row) -> [Vec<u64>; 3] {
    let (finest, coarsest) = (ours.happens_before.or(papers.happens_before), ours.views);
    let chains = [
        [finest, ours.reads_from, ours.values, coarsest],
        [finest, papers.data_centric, ours.reads_from, coarsest],
        [finest, papers.value_centric, None, coarsest],
    ];
    chains.map(|chain| chain.into_iter().flatten().collect())
}

/// The papers' numbers are ours where they count classes of reads-from. Equivalences are ordered: no coarser one has
/// more classes, be the numbers the papers' or ours.
#[test]
fn no_coarser_equivalence_has_more_classes() {
    for row in ROWS {
        let what = format!("{}({})", row.program, row.n);
        assert!(row.papers.reads_from.is_none_or(|papers| Some(papers) == row.ours.reads_from), "{what}");
        for chain in chains(row) {
            assert!(chain.is_sorted_by(|finer, coarser| finer >= coarser), "{what}: {chain:?}");
        }
    }
}

/// `report seeds` writes it.
#[test]
fn the_page_has_these_rows() {
    let text = include_str!("../../benches/report/seeds.md");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/seeds.md");
    assert_eq!(std::fs::read_to_string(file).unwrap(), page(text), "`report seeds` writes the page");
}
