//! What the papers' tables say of programs, and what rsmc counts.
//!
//! Whoever has this module has `programs`, with the bodies of `tests/programs`, and `buffered`, with the same bodies
//! whose plain accesses are `Relaxed`.

use std::fmt::Write;

use super::{buffered, programs};

/// A program at one size.
pub struct Row {
    /// The name that the papers give it.
    pub program: &'static str,
    /// Where the numbers are.
    pub source: &'static str,
    /// The size as the papers count it.
    pub n: usize,
    pub body: fn(usize),
    /// The papers' numbers.
    pub papers: Numbers,
    /// Ours, of the equivalences for which there is an explorer.
    pub ours: Ours,
}

/// Numbers of classes under SC, of the equivalences from the finest to the coarsest, as far as the papers have them.
#[derive(Clone, Copy)]
pub struct Numbers {
    /// Mazurkiewicz' traces, by source-DPOR or optimal DPOR.
    pub happens_before: Option<u64>,
    /// By DC-DPOR.
    pub data_centric: Option<u64>,
    /// By VC-DPOR.
    pub value_centric: Option<u64>,
    /// By the explorer of optimal DPOR for reads-from.
    pub reads_from: Option<u64>,
    /// By RVF-SMC.
    pub values: Option<u64>,
}

/// Numbers of executions under SC; nothing where it would take too long.
#[derive(Clone, Copy)]
pub struct Ours {
    /// Classes of happens-before, by optimal DPOR.
    pub happens_before: Option<u64>,
    /// Classes of reads-from.
    pub reads_from: Option<u64>,
    /// Executions of RVF-SMC, of which there may be fewer than classes.
    pub values: Option<u64>,
    /// Views.
    pub views: Option<u64>,
}

/// A number of reads-from classes where stores wait in buffers.
pub struct Buffered {
    pub program: &'static str,
    pub source: &'static str,
    pub n: usize,
    pub body: fn(usize),
    pub tso: Option<u64>,
    pub pso: Option<u64>,
}

macro_rules! number {
    (_) => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
}

macro_rules! rows {
    ($($program:literal by $body:ident {
        $($source:literal $n:literal: $hb:tt $dc:tt $vc:tt $rf:tt $rvf:tt
            => $traces:tt $reads_from:tt $values:tt $views:tt;)+
    })+) => {
        &[$($(Row {
            program: $program,
            source: $source,
            n: $n,
            body: programs::$body,
            papers: Numbers {
                happens_before: number!($hb),
                data_centric: number!($dc),
                value_centric: number!($vc),
                reads_from: number!($rf),
                values: number!($rvf),
            },
            ours: Ours {
                happens_before: number!($traces),
                reads_from: number!($reads_from),
                values: number!($values),
                views: number!($views),
            },
        }),+),+]
    };
}

/// All rows. Before the arrow: happens-before, DC, VC, reads-from and RVF-SMC as in the papers. Behind it:
/// happens-before, reads-from, reads-value-from and view by rsmc.
pub const ROWS: &[Row] = rows! {
    "figure 4.1" by figure_4_1 {
        "figure 4.1" 3: 98 _ 7 9 1 => 98 9 1 1;
    }
    "45_monabsex1" by same_value {
        "3.1" 5: 14_400 6_197 600 _ _ => 14_400 1_296 1 1;
        "3.1" 6: 518_400 180_126 13_152 _ _ => 518_400 16_807 1 1;
        "3.1, 4.1" 7: 25_401_600 7_073_803 423_360 262_144 1 => _ 262_144 1 1;
        "4.1" 8: _ _ _ 4_782_969 1 => _ 4_782_969 1 1;
    }
    "reorder_5" by reorder_5 {
        "3.1" 5: 1_755_360 4_978 1_016 _ _ => 1_755_360 276 4 4;
        "3.1" 8: _ 437_725 247_684 _ _ => _ 1_089 4 4;
        "3.1, 4.1" 9: _ 1_792_290 1_644_716 1_540 4 => _ 1_540 4 4;
        "4.1" 30: _ _ _ 54_901 4 => _ 54_901 4 4;
    }
    "singleton" by singleton {
        "3.1" 8: 40_320 8 2 _ _ => 40_320 8 2 2;
        "3.1" 9: 362_880 9 2 _ _ => 362_880 9 2 2;
        "3.1" 10: 3_628_800 10 2 _ _ => 3_628_800 10 2 2;
        "4.1" 20: _ 20 2 20 2 => _ 20 2 2;
        "4.1" 30: _ _ 2 30 2 => _ 30 2 2;
    }
    "13_unverif" by unverif_13 {
        "4.2" 5: 14_400 14_400 14_400 14_400 14_400 => 14_400 14_400 14_400 14_400;
        "4.2" 6: 518_400 _ _ 518_400 518_400 => 518_400 518_400 518_400 _;
    }
    "approxds_append" by approxds_append {
        "4.2" 6: 9_847_080 1_114_746 1_256_381 198_936 50_897 => 9_847_080 198_936 48_558 22_866;
        "4.2" 7: _ _ _ 4_645_207 923_526 => _ 4_645_207 _ _;
    }
    "pgsql" by pgsql {
        "4.2" 3: 3_906 3_906 3_906 3_906 3_906 => 3_906 3_906 3_906 3_906;
        "4.2" 4: 335_923 335_923 335_923 335_923 335_923 => 335_923 335_923 335_923 _;
    }
    "stack_true" by stack_true {
        "3.1" 9: 48_620 48_620 48_620 _ _ => 48_620 48_620 _ _;
        "3.1" 10: 184_756 184_756 184_756 _ _ => 184_756 184_756 _ _;
        "3.1" 11: 705_432 705_432 705_432 _ _ => 705_432 705_432 _ _;
    }
    "sigma_false" by sigma_false {
        "3.1" 7: 135_135 30_952 12_509 _ _ => 135_135 30_952 5_040 5_040;
        "3.1" 8: 2_027_025 325_488 133_736 _ _ => 2_027_025 325_488 40_320 40_320;
        "3.1" 9: _ 3_845_724 1_625_040 _ _ => _ 3_845_724 362_880 _;
    }
    "fkp2013" by fkp2013 {
        "3.1" 5: 86_400 25_626 17_751 _ _ => 86_400 7_776 3_951 2_612;
        "3.1" 6: 3_628_800 786_499 513_977 _ _ => 3_628_800 117_649 47_297 25_988;
    }
    "float_read" by float_read0 {
        "3.4" 9: 3_628_800 10 9 _ _ => 3_628_800 10 9 9;
        "3.4" 15: _ 16 15 _ _ => _ 16 15 15;
        "3.4" 16: _ 17 16 _ _ => _ 17 16 16;
    }
    "eratosthenes" by eratosthenes_t51 {
        "5.1" 17: 100_664 _ _ 4_667 _ => 100_664 4_667 14 1;
        "3.4, 5.1" 21: 1_527_736 19_991 3_500 19_991 _ => 1_527_736 19_991 17 1;
        "3.4" 25: _ 189_653 29_320 _ _ => _ 189_653 28 1;
        "3.4" 27: _ 710_551 110_380 _ _ => _ 710_551 38 1;
    }
    "readinc" by readinc {
        "VX 1" 2: 4 _ _ 3 _ => 4 3 3 3;
        "VX 1" 3: 36 _ _ 16 _ => 36 16 14 13;
        "VX 1" 4: 576 _ _ 125 _ => 576 125 91 75;
        "VX 1" 5: 14_400 _ _ 1_296 _ => 14_400 1_296 760 541;
        "VX 1, 2" 6: 518_400 84_682 _ 16_807 14_495 => 518_400 16_807 7_767 4_683;
        "VX 1, 2" 7: 25_401_600 2_625_219 _ 262_144 181_103 => _ 262_144 94_234 47_293;
    }
    "filesystem" by filesystem {
        "RVF" 14: _ _ _ 2 2 => _ 2 2 _;
        "RVF" 16: _ _ _ 8 8 => _ 8 8 _;
        "RVF" 18: _ _ _ 32 32 => _ 32 32 _;
        "RVF" 20: _ _ _ 128 128 => _ 128 128 _;
        "RVF" 22: _ _ _ 512 512 => _ 512 512 _;
        "RVF" 24: _ _ _ 2_048 2_048 => _ 2_048 _ _;
    }
    "exponential_bug" by exponential_bug {
        "RVF" 1: _ _ _ 867 211 => _ 867 333 181;
        "RVF" 2: _ _ _ 1_909 238 => _ 1_909 380 193;
        "RVF" 3: _ _ _ 3_634 238 => _ 3_634 383 193;
        "RVF" 4: _ _ _ 6_283 238 => _ 6_283 383 193;
        "RVF" 6: _ _ _ 15_487 238 => _ 15_487 383 193;
    }
    "ttaslock_assume" by ttaslock_assume {
        "RVF" 2: _ _ _ 10 9 => _ 10 9 7;
        "RVF" 3: _ _ _ 345 210 => _ 345 231 55;
        "RVF" 4: _ _ _ 50_200 18_121 => _ 50_200 20_888 575;
    }
};

/// Rows with store buffers.
pub const BUFFERED: &[Buffered] = &[
    Buffered {
        program: "eratosthenes",
        source: "5.1",
        n: 17,
        body: buffered::eratosthenes_t51,
        tso: Some(29_217),
        pso: Some(253_125),
    },
    Buffered {
        program: "eratosthenes",
        source: "5.1",
        n: 21,
        body: buffered::eratosthenes_t51,
        tso: Some(223_929),
        pso: None,
    },
];

/// The page of all rows.
pub fn page(text: &str) -> String {
    text.replace("{{rows}}\n", &table()).replace("{{buffered}}\n", &buffered_table())
}

fn table() -> String {
    let mut table = String::new();
    for row in ROWS {
        let Row { program, source, n, papers, ours, .. } = row;
        let cells = [
            number(papers.happens_before),
            compared(papers.happens_before, ours.happens_before),
            number(papers.data_centric),
            number(papers.value_centric),
            number(papers.reads_from),
            compared(papers.reads_from, ours.reads_from),
            number(papers.values),
            compared(papers.values, ours.values),
            number(ours.views),
        ];
        writeln!(table, "| {program} | {n} | {source} | {} |", cells.join(" | ")).expect("a string grows");
    }
    table
}

fn buffered_table() -> String {
    let mut table = String::new();
    for Buffered { program, source, n, tso, pso, .. } in BUFFERED {
        let cells = [*tso, *pso].map(number).join(" | ");
        writeln!(table, "| {program} | {n} | {source} | {cells} |").expect("a string grows");
    }
    table
}

/// Our number beside the papers'.
fn compared(papers: Option<u64>, ours: Option<u64>) -> String {
    match (papers, ours) {
        (Some(papers), Some(ours)) if papers == ours => "=".to_owned(),
        (Some(_), Some(ours)) => format!("**{}**", number(Some(ours))),
        _ => number(ours),
    }
}

/// A number, or an empty cell.
fn number(number: Option<u64>) -> String {
    number.map(thousands).unwrap_or_default()
}

/// A number with a comma after every three digits.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}
