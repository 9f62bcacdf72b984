//! The words that the attributes know: their arguments, the memory models, the explorers, the criteria.

/// An argument that an attribute knows.
pub(crate) struct Known {
    /// The argument's name, which is also the name of the setter; but for `replay`, which is `pin`.
    pub(crate) name: &'static str,
    /// The kind of the value to the right of `=`.
    pub(crate) kind: Kind,
    /// A whole argument, for error messages.
    pub(crate) example: &'static str,
}

/// The kind of value that an argument takes.
pub(crate) enum Kind {
    /// The name of a memory model, or a list of them.
    Memory,
    /// The name of an explorer.
    Explorer,
    /// An integer from the first number to the second, of the named type.
    Integer(u64, u64, &'static str),
    /// A number of preemptions, or the word for one that rises.
    Bound,
    /// `true` or `false`.
    Bool,
    /// A duration as text, of at least so many milliseconds.
    Duration(u64),
    /// An amount of memory as text.
    Amount,
    /// A seed as a failing test printed it.
    Replay,
    /// The name of a criterion.
    Criterion,
    /// The time that an audit may take, of at least so many milliseconds.
    Within(u64),
    /// A list of orderings: texts that name a file and a call.
    Allow,
}

/// The arguments of a test.
const KNOWN: &[Known] = &[
    Known { name: "memory", kind: Kind::Memory, example: "memory = \"tso\"" },
    Known { name: "explorer", kind: Kind::Explorer, example: "explorer = \"reads-from\"" },
    Known { name: "max_executions", kind: Kind::Integer(1, u64::MAX, "u64"), example: "max_executions = 1_000_000" },
    Known { name: "max_duration", kind: Kind::Duration(1), example: "max_duration = \"30s\"" },
    Known { name: "max_memory", kind: Kind::Amount, example: "max_memory = \"4GiB\"" },
    Known { name: "stuck_after", kind: Kind::Duration(0), example: "stuck_after = \"60s\"" },
    Known { name: "max_steps", kind: Kind::Integer(1, u32::MAX as u64, "u32"), example: "max_steps = 100_000" },
    Known { name: "spin_bound", kind: Kind::Integer(1, u32::MAX as u64, "u32"), example: "spin_bound = 2" },
    Known { name: "spurious", kind: Kind::Integer(0, u32::MAX as u64, "u32"), example: "spurious = 0" },
    Known { name: "stack_size", kind: Kind::Integer(1, usize::MAX as u64, "usize"), example: "stack_size = 65_536" },
    Known { name: "keep_going", kind: Kind::Bool, example: "keep_going = true" },
    Known { name: "check_races", kind: Kind::Bool, example: "check_races = false" },
    Known { name: "check_leaks", kind: Kind::Bool, example: "check_leaks = false" },
    Known { name: "check_joins", kind: Kind::Bool, example: "check_joins = true" },
    Known { name: "allow_trivial", kind: Kind::Bool, example: "allow_trivial = true" },
    Known { name: "reuse", kind: Kind::Bool, example: "reuse = true" },
    Known { name: "shrink", kind: Kind::Integer(0, u32::MAX as u64, "u32"), example: "shrink = 0" },
    Known { name: "seed", kind: Kind::Integer(0, u64::MAX, "u64"), example: "seed = 42" },
    Known { name: "pct_depth", kind: Kind::Integer(1, 1_000, "u32"), example: "pct_depth = 2" },
    Known { name: "preemption_bound", kind: Kind::Bound, example: "preemption_bound = 2" },
    Known { name: "delay_bound", kind: Kind::Integer(0, u32::MAX as u64, "u32"), example: "delay_bound = 1" },
    Known { name: "jobs", kind: Kind::Integer(1, usize::MAX as u64, "usize"), example: "jobs = 2" },
    Known { name: "replay", kind: Kind::Replay, example: "replay = \"<the seed that the failing test printed>\"" },
];

/// The arguments that a specification has beside them.
pub(crate) const SPEC: &[Known] = &[
    Known { name: "criterion", kind: Kind::Criterion, example: "criterion = \"linearizable\"" },
    Known { name: "calls", kind: Kind::Integer(1, 12, "usize"), example: "calls = 4" },
    Known { name: "threads", kind: Kind::Integer(1, 6, "usize"), example: "threads = 2" },
    Known { name: "init", kind: Kind::Integer(0, 12, "usize"), example: "init = 2" },
    Known { name: "end", kind: Kind::Integer(0, 12, "usize"), example: "end = 1" },
    Known { name: "budget", kind: Kind::Duration(0), example: "budget = \"30s\"" },
    Known { name: "random", kind: Kind::Integer(0, 100_000, "usize"), example: "random = 200" },
];

/// The criteria, the default first: the name in the attribute and the variant of `Criterion`.
pub(crate) const CRITERIA: &[(&str, &str)] = &[
    ("linearizable", "Linearizable"),
    ("quiescently-consistent", "QuiescentlyConsistent"),
    ("sequentially-consistent", "SequentiallyConsistent"),
];

/// The arguments that only `#[rsmc::audit]` has.
const KNOWN_TO_AUDIT: &[Known] = &[
    Known { name: "within", kind: Kind::Within(1), example: "within = \"5m\"" },
    Known {
        name: "allow",
        kind: Kind::Allow,
        example: "allow = [\"src/queue.rs: push: self.tail.store(tail, SeqCst)\"]",
    },
];

/// The two attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// `#[rsmc::test]`
    #[default]
    Test,
    /// `#[rsmc::audit]`, which is a test that also audits the orderings.
    Audit,
}

impl Attribute {
    /// Its path, as users write it.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Attribute::Test => "rsmc::test",
            Attribute::Audit => "rsmc::audit",
        }
    }

    /// Its arguments.
    pub(crate) fn arguments(self) -> impl Iterator<Item = &'static Known> + Clone {
        let others = if self == Attribute::Audit { KNOWN_TO_AUDIT } else { &[] };
        KNOWN.iter().chain(others)
    }

    /// The names of its arguments.
    pub(crate) fn argument_names(self) -> impl Iterator<Item = &'static str> + Clone {
        self.arguments().map(|known| known.name)
    }
}

/// The memory models: the name in the attribute and the variant of `MemoryModel`.
pub(crate) const MODELS: &[(&str, &str)] = &[("sc", "Sc"), ("tso", "Tso"), ("pso", "Pso"), ("c11", "C11")];

/// The explorers: the name in the attribute and the variant of `Explorer`.
pub(crate) const EXPLORERS: &[(&str, &str)] = &[
    ("reads-from", "ReadsFrom"),
    ("reads-value-from", "ReadsValueFrom"),
    ("view", "View"),
    ("exhaustive", "Exhaustive"),
    ("random", "Random"),
    ("pct", "Pct"),
];

/// The memory models under which orderings make a difference.
pub(crate) const MODELS_OF_AUDITS: [&str; 1] = ["c11"];

/// The explorers that cover all executions under these.
pub(crate) const EXPLORERS_OF_AUDITS: [&str; 2] = ["reads-from", "exhaustive"];

/// The names in a table of names and variants.
pub(crate) fn names<'a>(table: &'a [(&'a str, &'a str)]) -> impl Iterator<Item = &'a str> + Clone {
    table.iter().map(|(name, _)| *name)
}
