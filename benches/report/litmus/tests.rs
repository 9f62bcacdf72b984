//! The tests of the page: files of `rsmc-core/tests/litmus`; and what its text says of them, so that it is checked.

/// A file, and the outcome that its table line is about.
#[derive(Clone, Copy)]
pub struct Test {
    /// The name of the file.
    pub file: &'static str,
    /// Some registers.
    pub weak: &'static str,
}

/// A shape: its weak outcome, and the files that differ in orderings only.
type Shape = (&'static str, &'static [&'static str]);

const SHAPES: &[Shape] = &[
    // Store buffering, message passing, load buffering.
    (
        "a=0 b=0",
        &[
            "store_buffering_relaxed",
            "store_buffering_release",
            "store_buffering_store_both",
            "store_buffering_fences",
            "store_buffering",
            "store_buffering_rmw_shared",
        ],
    ),
    (
        "a=1 b=0",
        &[
            "message_passing_relaxed",
            "message_passing_release",
            "message_passing_acquire",
            "message_passing",
            "message_passing_fences",
        ],
    ),
    ("a=1 b=1", &["load_buffering", "load_buffering_release", "load_buffering_seqcst"]),
    // Two threads that race in their stores.
    (
        "a=1 b=1",
        &[
            "two_plus_two_w",
            "two_plus_two_w_release",
            "two_plus_two_w_full_fences",
            "two_plus_two_w_seqcst",
            "two_plus_two_w_seqcst_all",
        ],
    ),
    ("a=0 b=2", &["r", "r_release_fence", "r_fences", "r_seqcst", "r_seqcst_all"]),
    ("a=1 b=2", &["s_relaxed", "s_fence", "s_fences", "s", "s_seqcst"]),
    // Three threads and more.
    ("a=1 b=1 c=0", &["wrc_relaxed", "wrc_acquire_only", "wrc", "wrc_fences"]),
    ("a=1 b=0 c=0", &["rwc_relaxed", "rwc_release", "rwc_fence", "rwc_fences", "rwc"]),
    ("a=1 b=0 c=0", &["w_rwc_relaxed", "w_rwc_release", "w_rwc_fences", "w_rwc_seqcst"]),
    ("a=1 b=1 c=0", &["isa2_relaxed", "isa2_release_first", "isa2", "isa2_fences", "isa2_seqcst"]),
    (
        "a=1 b=0 c=1 d=0",
        &["iriw_relaxed", "iriw_release", "iriw_fence_one", "iriw_fences", "iriw_acquire_seqcst", "iriw"],
    ),
    ("a=0 b=1 c=3", &["z6_u_relaxed", "z6_u", "z6_u_fences", "z6_u_seqcst"]),
    // One location.
    ("a=1 b=0", &["corr"]),
    ("a=1 b=2 c=2 d=1", &["corr_two"]),
    ("a=1", &["corw"]),
    ("a=0", &["cowr"]),
    ("a=2 b=1", &["coww"]),
    ("a=1", &["coww_two"]),
    ("a=0 b=2", &["swap_race_relaxed"]),
    ("a=0 b=0", &["swap_race"]),
    // What is passed on, forgotten or mixed.
    ("a=2 b=0", &["release_sequence", "release_sequence_store"]),
    ("a=1 b=0 c=0", &["cas_stale"]),
    ("a=1 b=0", &["cas_stale_acquire", "ten_stores"]),
    ("a=0 b=1", &["store_buffering_seqcst_mixed"]),
];

/// All of them, in the order of the page.
pub fn tests() -> impl Iterator<Item = Test> {
    SHAPES.iter().flat_map(|&(weak, files)| files.iter().map(move |&file| Test { file, weak }))
}

/// Whether a test shows its outcome: under SC, TSO, PSO and C11, and in loom.
pub type Shows = [bool; 5];

/// From here on all models show it, and loom.
const FROM_TSO: Shows = [false, true, true, true, true];
const FROM_PSO: Shows = [false, false, true, true, true];
const FROM_C11: Shows = [false, false, false, true, true];
/// Only C11 does.
const C11_ALONE: Shows = [false, false, false, true, false];
/// Only loom does.
const LOOM_ALONE: Shows = [false, false, false, false, true];
const NEVER: Shows = [false; 5];

/// What the text says. Every test that it names is here.
pub const SAID: &[(Shows, &[&str])] = &[
    (FROM_TSO, &["SB_relaxed", "SB_release", "R", "RWC_release", "W+RWC_release", "Z6.U_relaxed"]),
    (FROM_PSO, &["MP_relaxed", "2+2W", "S_relaxed", "ISA2_relaxed"]),
    (FROM_C11, &["MP_release", "ISA2_release_first", "WRC_relaxed", "IRIW_relaxed", "IRIW_release"]),
    (FROM_C11, &["SB_store_both", "SB_rmw_shared", "2+2W_release", "2+2W_seqcst", "R_seqcst", "R_release_fence"]),
    (FROM_C11, &["IRIW_acquire_seqcst", "Z6.U", "release_sequence_store"]),
    (C11_ALONE, &["ten_stores", "cas_stale"]),
    (LOOM_ALONE, &["SB", "IRIW", "swap_race", "swap_race_relaxed"]),
    (NEVER, &["LB", "LB_release", "LB_seqcst", "MP", "CoRR", "CoRR2", "CoRW", "CoWR", "CoWW", "CoWW_two"]),
    (NEVER, &["SB_fences", "2+2W_full_fences", "R_fences", "RWC_fences", "W+RWC_fences", "IRIW_fences", "Z6.U_fences"]),
];

/// Why loom differs from C11, and where: in all tests that differ, and in no other.
const REASONS: &[(&str, &[&str])] = &[
    (
        "SeqCst accesses",
        &["SB", "SB_seqcst_mixed", "2+2W_seqcst_all", "R_seqcst_all", "RWC", "W+RWC_seqcst", "IRIW", "Z6.U_seqcst"],
    ),
    ("updates", &["swap_race_relaxed", "swap_race"]),
    ("failed compare-exchange", &["cas_stale"]),
    ("history", &["ten_stores"]),
];

/// Why loom differs in a test.
pub fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason)
}
