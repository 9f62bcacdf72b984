//! The bound of preemptions as a setting.

use std::fmt;

/// The largest number of preemptions of the executions that an exploration covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionBound {
    /// This number.
    AtMost(u32),
    /// 0, then 1, 2, and so on, until everything is covered or a limit is reached.
    Rising,
}

impl fmt::Display for PreemptionBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreemptionBound::AtMost(most) => write!(f, "{most}"),
            PreemptionBound::Rising => write!(f, "rising"),
        }
    }
}
