//! Explorers, which choose the executions to run: one file (or folder) per algorithm. None knows a primitive or a
//! coroutine.

mod by_source;
mod divide;
mod exhaustive;
mod looks;
mod one_plan;
mod preemption_bound;
mod random;
mod restore;
pub mod rf_smc;
pub mod rvf_smc;
mod twice;
mod up_to_date;
pub mod view_xplore;

pub use divide::{Divisible, Division, Saved, Settings, Task};
pub use exhaustive::Exhaustive;
pub use looks::SavedLooks;
pub use one_plan::OnePlan;
pub use preemption_bound::PreemptionBound;
pub use random::{DEEPEST, Pct, Random};
pub use rf_smc::RfSmc;
pub use rvf_smc::RvfSmc;
pub use twice::Twice;
pub use up_to_date::up_to_date;
pub use view_xplore::ViewXplore;
