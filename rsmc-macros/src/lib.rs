//! The attributes `#[rsmc::test]`, `#[rsmc::audit]` and `#[rsmc::spec]`.
//!
//! Use them through the facade crate `rsmc`; this crate only turns tokens into tokens. One file per step: `args` reads
//! the arguments, `value` their right-hand sides (in the words of `known`), `function` the annotated function; `expand`
//! writes the tests. `spec` has the parts of the other attribute.

mod args;
mod duration;
mod errors;
mod expand;
mod expr;
mod function;
mod known;
mod spec;
mod suggest;
mod value;

use proc_macro::TokenStream;

/// Runs a test once per class of executions, instead of once.
///
/// Write it where `#[test]` would stand. Other attributes (`#[should_panic]`, `#[ignore]`, `#[cfg]`, lint levels), the
/// visibility and the return type are kept, and the test is found by `cargo test` and `cargo nextest` under its own
/// name. The body may return what `main` may: an error or an exit code that is not success fails the test.
///
/// ```ignore
/// #[rsmc::test]
/// fn counter() {
///     let count = Arc::new(AtomicUsize::new(0));
///     let other = { let count = count.clone(); thread::spawn(move || count.fetch_add(1, Relaxed)) };
///     count.fetch_add(1, Relaxed);
///     other.join().unwrap();
///     assert_eq!(count.load(Relaxed), 2);
/// }
///
/// #[rsmc::test(explorer = "random", max_executions = 1_000_000, max_duration = "30s")]
/// fn ring() { /* … */ }
///
/// // One test per memory model, `queue::sc` and so on.
/// #[rsmc::test(memory = ["sc", "tso", "pso"])]
/// fn queue() { /* … */ }
/// ```
///
/// # Arguments
///
/// Each sets the `Config` field of the same name; an argument that is not given keeps its default. Environment
/// variables (`RSMC_MEMORY`, `RSMC_REPLAY`, …) override them.
///
/// | argument | value | meaning |
/// | --- | --- | --- |
/// | `memory` | `"sc"`, `"tso"`, `"pso"`, `"c11"`, or a list of them | the memory model, by default `"c11"` (`"pso"` for `view`, `"sc"` for `reads-value-from`); a list makes one test per model, in a module named after the function |
/// | `explorer` | `"reads-from"`, `"reads-value-from"`, `"view"`, `"exhaustive"`, `"random"`, `"pct"` | what counts as the same execution, and how to look for the others |
/// | `max_executions` | integer, at least 1 | stop after this many executions |
/// | `max_memory` | `"512MiB"`, `"4GiB"` | stop when the check has so much memory in use (Linux) |
/// | `max_duration` | `"500ms"`, `"30s"`, `"10m"` or `"10min"`, `"2h"`, `"1m30s"` | stop after this time |
/// | `stuck_after` | as before | end the process if a modelled thread does nothing that rsmc sees for so long; `"0s"`: never |
/// | `max_steps` | integer, at least 1 | steps that one execution may take |
/// | `spin_bound` | integer, at least 1 | equal iterations after which a loop that counts waits or gives up |
/// | `spurious` | integer | compare-exchanges that may fail, and waits that may end, without cause in one execution |
/// | `stack_size` | integer, at least 16,384 | bytes of stack for each thread of the test |
/// | `keep_going` | `true`, `false` | do not stop at the first failure |
/// | `check_races` | `true`, `false` | report data races |
/// | `check_leaks` | `true`, `false` | report what is not dropped by the end of an execution |
/// | `check_joins` | `true`, `false` | report threads that no thread joins; by default not |
/// | `allow_trivial` | `true`, `false` | let a test pass whose threads share nothing; by default it fails |
/// | `reuse` | `true`, `false` | let a thread get memory again that it has freed, so that ABA is explored |
/// | `shrink` | integer | runs that may look for a smaller schedule of a failure, and a stronger model; 0: none |
/// | `seed` | integer | where the random explorers start |
/// | `pct_depth` | integer from 1 to 1,000 | the depth of bugs at which `pct` aims; by default 1, 2 and 3 in turn |
/// | `replay` | text that a failing test printed | run this schedule first, then explore |
///
/// A pair of explorer and memory model that is not implemented compiles: the test fails when it runs, and lists what is
/// implemented.
///
/// # What it cannot go on
///
/// Functions that take parameters, are generic, or are `async`, `const`, `unsafe` or `extern`, and functions that
/// another `test` attribute already makes a test. Each is an error at the word in question, but for one case that
/// cannot be seen from here: a `#[test]` *above* this attribute is gone by the time this one is asked, and the test
/// runs twice.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(known::Attribute::Test, args.into(), item.into()).into()
}

/// A test as [`macro@test`] makes it, which also fails if an ordering in it is stronger than it can tell.
///
/// The check must verify. Then every ordering that it uses, of atomics and fences, is made weaker, and the check must
/// fail; see `rsmc::audit`, the function, for what this can tell and what it cannot. Put it on a test that shows what
/// the orderings are for; what stays stronger for another reason is listed.
///
/// ```ignore
/// #[rsmc::audit(within = "5m", allow = [
///     // The fence is for code in another crate.
///     "src/queue.rs: close: fence(SeqCst)",
/// ])]
/// fn queue() { /* … */ }
/// ```
///
/// # Arguments
///
/// Those of [`macro@test`], but `memory` can only be `"c11"`, the default, and `explorer` only `"reads-from"`, the
/// default, or `"exhaustive"`; and:
///
/// | argument | value | meaning |
/// | --- | --- | --- |
/// | `within` | a time such as `"30s"`, `"5m"`, `"2h"` | the time that the audit may take, by default a minute. The test fails if it is not enough |
/// | `allow` | a list of texts: a file, maybe a function, and a call | calls whose orderings may be stronger than the test needs |
///
/// An entry of `allow` names the end of a path (`src/queue.rs`), the function around the call, if only a call within it
/// is meant, and the call as it is in the source, where blanks make no difference. So it stays right where lines move,
/// and it does not where the call changes. A failing test prints the entries. An entry that allows nothing, since the
/// ordering is needed, is `Relaxed`, or is not there, is an error, too.
///
/// `RSMC_AUDIT=0` leaves the audit out, and `RSMC_AUDIT=10m` gives it another time. A replay, and a check with
/// `RSMC_WEAKEN` or another memory model, is not audited.
#[proc_macro_attribute]
pub fn audit(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(known::Attribute::Audit, args.into(), item.into()).into()
}

/// # The module
///
/// It has a function `new` that makes the structure, and if the first state of the model is not its default, a function
/// `model` that makes that. A function with one of these attributes is an operation:
///
/// | attribute | function |
/// | --- | --- |
/// | `#[op]` | `fn pop(model: &mut Model) -> R`: makes the call in the model |
/// | `#[blocking]` | `fn take(model: &mut Model) -> Option<R>`: `None`, and no change, where the call waits |
/// | `#[op_where]` | `fn steal(model: &mut Model, result: &R) -> bool`: may the call return this, and the change then |
///
/// Further parameters, between the model and the result, are the arguments of the call. The call of the structure is
/// its method of the same name with the same arguments, and returns `R`. The attribute may have arguments:
///
/// | argument | meaning |
/// | --- | --- |
/// | `value in [1, 2]` | the values of the parameter `value`: all that is a `Values` or becomes one; by default those of `DefaultValues`, as 1 and 2 of integers |
/// | `call = \|queue, value\| …` | another call of the structure: a function of a reference to it and the arguments |
/// | `lock_free` | other threads complete their calls if one is suspended for ever in this one: `Spec::lock_free` |
/// | `on_one_thread = "owner"` | only one thread of a scenario uses the operations that have this name here |
///
/// A parameter of the type `&V` gets references, and its values are of the type `V`, or `String` for `&str`. Values
/// that are written as the same expression are the same ones in all operations: so keys may be `symmetric([1, 2])` in
/// each.
///
/// A function `fn f(structure: &Structure)` with `#[validate]` looks at the structure when all calls have returned.
///
/// The attribute adds a function `spec`, as visible as `new`, which returns the `Spec`, and a test with the name of the
/// criterion, as `queue::linearizable`. Attributes `#[ignore]` and `#[should_panic]` of the module are those of the
/// test.
///
/// # Arguments
///
/// All but `value in …` are those of the methods of `Spec`, and of `#[rsmc::test]` without `replay`.
///
/// | argument | value | meaning |
/// | --- | --- | --- |
/// | `value in …` | as above | the values of the parameters of this name in all operations that do not say others |
/// | `criterion` | `"linearizable"`, `"quiescently-consistent"`, `"sequentially-consistent"` | the condition on results |
/// | `calls` | integer from 1 to 12 | the largest number of calls of a scenario |
/// | `threads` | integer from 1 to 6 | the largest number of threads |
/// | `init`, `end` | integer | the largest number of calls before the threads start, and after they have ended |
/// | `budget` | `"30s"` | the time after which no further scenario is begun |
/// | `memory`, `explorer`, … | as in `#[rsmc::test]` | the configuration of each check; a list of memory models makes a module of tests, as `queue::linearizable::sc` |
#[proc_macro_attribute]
pub fn spec(args: TokenStream, item: TokenStream) -> TokenStream {
    spec::spec(args.into(), item.into()).into()
}
