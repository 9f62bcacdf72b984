//! Runs a check and says how it went: the only place that panics or prints.

use std::cell::RefCell;
use std::panic::Location;
use std::path::PathBuf;
use std::rc::Rc;

use rsmc_core::report::{self, RenderOptions, visible};
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, ConfigError, Limit, Report, Verdict, assert_no_check, check_body};
use rsmc_core::step::{Panicked, Run};
use rsmc_core::trace::Weakened;

use crate::annotate;
use crate::audit::{self, Assertion, Audit, Forms, Parts, Subject};
use crate::ends;
use crate::env::{self, Audits, EnvError};
use crate::files::{self, SOURCES};
use crate::jobs::{self, Which};
use crate::long;
use crate::said;
use crate::summary;
use crate::terminal;

/// Checks `body` with the default configuration, as overridden by the environment.
///
/// # Panics
/// With the rendered report if an execution fails or a limit is reached, like a failing test. With an explanation
/// if a variable of the environment is wrong, or if called inside another check.
///
/// ```
/// use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// rsmc::check(|| {
///     let x = AtomicU32::new(0);
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| x.fetch_add(1, Relaxed));
///         scope.spawn(|| x.fetch_add(1, Relaxed));
///     });
///     assert_eq!(x.load(Relaxed), 2);
/// });
/// ```
#[track_caller]
pub fn check(body: impl Fn() + Sync) {
    check_with(Config::default(), body);
}

/// Checks `body` with a configuration, as overridden by the environment.
///
/// # Panics
/// As [`check`]; also if the configuration cannot be carried out.
#[track_caller]
pub fn check_with(config: Config, body: impl Fn() + Sync) {
    __rust_end_short_backtrace_of_check(Asked::new(config), &body);
}

/// Checks `body` and returns the report, without a panic.
///
/// It does not look at the environment: a program that asks for a [`Report`] gets what its configuration says.
/// Variables such as `RSMC_REPLAY` and `RSMC_LOG` do nothing here; where one of these two is set, the process says so
/// on stderr, once. To replay a seed, use [`Config::replay`].
///
/// # Panics
/// If the configuration cannot be carried out, or if called inside another check.
///
/// ```
/// use rsmc::{Config, Explorer, Verdict, sync::atomic::{AtomicU32, Ordering::SeqCst}};
///
/// let report = rsmc::explore(&Config::default().explorer(Explorer::ReadsFrom), || {
///     let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| { x.store(1, SeqCst); y.load(SeqCst) });
///         scope.spawn(|| { y.store(1, SeqCst); x.load(SeqCst) });
///     });
/// });
/// assert!(matches!(report.verdict, Verdict::Verified));
/// assert_eq!(report.executions, 3);
/// ```
#[track_caller]
pub fn explore(config: &Config, body: impl Fn() + Sync) -> Report {
    explore_body(config, &body)
}

/// See [`explore`]. It is compiled once, not for every body.
#[track_caller]
fn explore_body(config: &Config, body: &(dyn Fn() + Sync)) -> Report {
    let which = Which::next(None, Location::caller());
    said::say_in_vain("rsmc::explore", config, &said::who(which.test(), Location::caller()));
    match jobs::check(&which, config, body, |body, crew| body.check().crew(crew).run()) {
        Ok(report) => report,
        Err(error) => panic!("rsmc: {error}"),
    }
}

/// A report as text: the schedule for a failure, one line otherwise. `name` is the test's name for `cargo test`.
pub fn render(report: &Report, name: Option<&str>) -> String {
    report::text(report, &RenderOptions::of_test(name), SOURCES)
}

/// The failing execution of a report as a page for a browser; `None` if there is none. `config` is the configuration of
/// the check, `name` the test's name for `cargo test`.
///
/// The page is complete in itself: it has the source lines of the steps in it, as far as the files are found from the
/// current directory or one above it.
///
/// ```
/// use rsmc::{Config, sync::atomic::{AtomicU32, Ordering::SeqCst}};
///
/// let config = Config::default();
/// let report = rsmc::explore(&config, || {
///     let x = AtomicU32::new(0);
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| x.store(1, SeqCst));
///         assert_eq!(x.load(SeqCst), 0);
///     });
/// });
/// let page = rsmc::html(&report, &config, None).expect("an assertion fails");
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// ```
pub fn html(report: &Report, config: &Config, name: Option<&str>) -> Option<String> {
    let diagram = report::diagram(report, config, name, SOURCES)?;
    Some(report::html(&diagram, SOURCES))
}

/// The failing execution of a report as a graph in the language of Graphviz; `None` if there is none. The parameters
/// are those of [`html`].
pub fn dot(report: &Report, config: &Config, name: Option<&str>) -> Option<String> {
    Some(report::dot(&report::diagram(report, config, name, SOURCES)?))
}

/// The failing execution of a report as JSON for other tools; `None` if there is none. The parameters are those of
/// [`html`].
/// `docs/report-json.md` describes the form, which has a version.
pub fn json(report: &Report, config: &Config, name: Option<&str>) -> Option<String> {
    Some(report::json(&report::diagram(report, config, name, SOURCES)?))
}

/// As [`render`] with other options: for a wider terminal, in colours, or in ASCII.
///
/// ```
/// use rsmc::{Config, RenderOptions};
///
/// let report = rsmc::explore(&Config::default(), || assert!(rsmc::choose(2) == 0));
/// let wide = RenderOptions::of_test(Some("tests::choice")).columns(140).colour(true);
/// assert!(rsmc::render_in(&report, &wide).starts_with("\u{1b}[1;31mpanic"));
/// ```
pub fn render_in(report: &Report, options: &RenderOptions<'_>) -> String {
    report::text(report, options, SOURCES)
}

/// Runs the check of a test. std leaves out of a short backtrace what is between functions with this name and the next
/// one: a failing check shows the frames of its test only. The attribute knows it as `run_test`.
#[doc(hidden)]
#[inline(never)]
#[track_caller]
pub fn __rust_end_short_backtrace(name: &str, config: Config, body: impl Fn() + Sync) {
    check_and_report(Asked::new(config), Some(name), &body);
    std::hint::black_box(());
}

/// As [`__rust_end_short_backtrace`], for a test that asserts something of its orderings. The attribute knows it as
/// `run_audit`.
#[doc(hidden)]
#[inline(never)]
#[track_caller]
pub fn __rust_end_short_backtrace_of_audit(
    name: &str,
    config: Config,
    assertion: Assertion<'_>,
    body: impl Fn() + Sync,
) {
    check_and_report(Asked { assertion: Some(assertion), ..Asked::new(config) }, Some(name), &body);
    std::hint::black_box(());
}

/// Panics at the place of the check's caller.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn __rust_begin_short_backtrace(message: &str) -> ! {
    panic!("{message}");
}

/// As [`__rust_end_short_backtrace`], for a check without a name.
#[inline(never)]
#[track_caller]
fn __rust_end_short_backtrace_of_check(asked: Asked<'_>, body: &(dyn Fn() + Sync)) {
    check_and_report(asked, None, body);
    std::hint::black_box(());
}

/// A check of `rsmc-loom` or `rsmc-shuttle`.
#[doc(hidden)]
pub struct Model<'a> {
    /// The configuration of the check.
    pub config: Config,
    /// Whether every operation is printed while it happens.
    pub is_traced: bool,
    /// Whether a failure panics with the text of the body's panic in one piece, for `should_panic(expected = …)`.
    pub quotes: bool,
    /// Sees the report before a failure panics, with a function that says something on stderr.
    pub see: See<'a>,
}

#[doc(hidden)]
pub type See<'a> = &'a dyn Fn(&Report, &dyn Fn(&str));

#[doc(hidden)]
#[track_caller]
pub fn run_model(model: Model<'_>, body: impl Fn() + Sync) {
    let Model { mut config, is_traced, quotes, see } = model;
    // As in loom and shuttle: the body finds what the test has put into std's `thread_local!`s.
    config.own_thread = false;
    __rust_end_short_backtrace_of_check(Asked { config, is_traced, quotes, see, assertion: None }, &body);
}

#[doc(hidden)]
#[track_caller]
pub fn parse_seed(text: &str) -> Seed {
    match text.parse() {
        Ok(seed) => seed,
        Err(error) => panic!("rsmc: {error}"),
    }
}

/// The settings of a check that its caller chose.
struct Asked<'a> {
    config: Config,
    /// Whether every operation is printed while it happens.
    is_traced: bool,
    /// Whether the text has that of the body's panic in one piece.
    quotes: bool,
    /// Sees the report before a failure panics.
    see: See<'a>,
    /// The assertion of the test about its orderings.
    assertion: Option<Assertion<'a>>,
}

impl Asked<'_> {
    fn new(config: Config) -> Self {
        Self { config, is_traced: false, quotes: false, see: &|_, _| {}, assertion: None }
    }
}

/// The settings of a check, from its test and from the environment.
pub(crate) struct Settings {
    pub(crate) config: Config,
    /// The only scenario of a specification to run.
    pub(crate) scenario: Option<String>,
    /// The folder for the files of a failure.
    dir: Option<PathBuf>,
    is_traced: bool,
    /// Whether the check goes on from its checkpoint.
    resumes: bool,
    /// Whether a check fails that is not complete.
    fails_incomplete: bool,
    /// The file that gets a line about the check.
    summary: Option<PathBuf>,
    /// Whether the problems of a failure are printed for GitHub.
    annotates: bool,
    /// The checks whose orderings are audited.
    audits: Audits,
}

fn from_environment(config: Config) -> Result<Settings, EnvError> {
    let variables = env::read()?;
    let (dir, is_traced) = (env::report_dir(&variables)?, env::wants_trace(&variables));
    let (config, resumes) = (env::apply(config, &variables)?, env::resumes(&variables)?);
    let (fails_incomplete, summary) = (env::fails_incomplete(&variables)?, env::summary(&variables)?);
    let (annotates, scenario) = (env::annotates(&variables)?, env::scenario(&variables));
    let audits = env::audits(&variables)?;
    Ok(Settings { config, scenario, dir, is_traced, resumes, fails_incomplete, summary, annotates, audits })
}

/// A check that is about to run.
pub(crate) struct Begun<'a> {
    pub(crate) settings: Settings,
    pub(crate) which: Which,
    /// The subject of messages.
    who: String,
    /// The path of the test, with the name of its crate.
    path: Option<&'a str>,
    /// Whether the text has that of the body's panic in one piece.
    quotes: bool,
    /// The text about what the test asserts of its orderings and does not hold.
    complaint: Option<String>,
}

/// Checks a body and reports. `path` is that of the test, with the name of its crate.
#[track_caller]
fn check_and_report(asked: Asked<'_>, path: Option<&str>, body: &(dyn Fn() + Sync)) {
    let Some(begun) = Begun::new(asked.config, path) else { return };
    let subject = audit::Body(body);
    begun.answer_if_asked(&subject);
    let (report, interrupts) = begun.run(asked.is_traced, body);
    let is_verified = matches!(report.verdict, Verdict::Verified);
    let complaint = begun.audit(&report, is_verified.then(Parts::new), asked.assertion.as_ref(), &subject);
    let begun = Begun { quotes: asked.quotes, complaint, ..begun };
    begun.report(report, interrupts, asked.see);
}

impl<'a> Begun<'a> {
    /// The next check of the caller; `None` in a worker for another check, where this one has passed.
    #[track_caller]
    pub(crate) fn new(config: Config, path: Option<&'a str>) -> Option<Self> {
        // The panic comes from here, where the caller's place is known; also in a worker, which passes other checks by.
        assert_no_check();
        let settings = match from_environment(config) {
            Ok(settings) => settings,
            Err(error) => __rust_begin_short_backtrace(&format!("rsmc: {}", visible(&error.to_string()))),
        };
        // `cargo test` leaves the crate's name out.
        let name = path.map(|path| path.split_once("::").map_or(path, |(_, rest)| rest));
        let which = Which::next(name, Location::caller());
        let who = said::who(which.test(), Location::caller());
        (!jobs::is_passed(&which)).then_some(Self { settings, which, who, path, quotes: false, complaint: None })
    }

    #[track_caller]
    pub(crate) fn run(&self, is_traced: bool, body: &(dyn Fn() + Sync)) -> (Report, Option<long::Listening>) {
        let Settings { config, resumes, .. } = &self.settings;
        let ran = match is_traced || self.settings.is_traced {
            true => {
                trace(&config.clone().test(self.which.test()), body).map(|report| (report, None)).map_err(Into::into)
            }
            false => long::check(&self.which, config, *resumes, body),
        };
        match ran {
            Ok(ran) => ran,
            Err(error) => __rust_begin_short_backtrace(&format!("rsmc: {}", visible(&error.to_string()))),
        }
    }

    /// In a worker that is there to answer the questions of this check's audit: does so until the process ends.
    pub(crate) fn answer_if_asked(&self, subject: &dyn Subject) {
        audit::answer_if_asked(&self.which, &self.settings.config, subject);
    }

    /// Audits the orderings of a check, if that is asked for, and writes the audit to files. `parts` are those of the
    /// check that verify. Returns the text about what the test asserts of them and does not hold.
    #[track_caller]
    pub(crate) fn audit(
        &self,
        report: &Report,
        parts: Option<Parts>,
        assertion: Option<&Assertion<'_>>,
        subject: &dyn Subject,
    ) -> Option<String> {
        let Settings { config, audits, dir, resumes, .. } = &self.settings;
        let (is_for_all, longest) = match *audits {
            Audits::None => return None,
            Audits::Asserted => (false, assertion?.longest()),
            Audits::All(time) => (true, time.unwrap_or_else(|| assertion.map_or(audit::LONGEST, Assertion::longest))),
        };
        if config.replay.is_some() || jobs::is_worker() {
            return None;
        }
        let why_not = match () {
            () if !config.effective_memory().is_graph() => "orderings make a difference under `c11` only",
            () if assertion.is_some() && !config.weakened.is_empty() => "orderings are weaker than written",
            () => "",
        };
        if !why_not.is_empty() {
            said::say(&self.who, &format!("not audited: {why_not}"));
            return None;
        }
        let merge = |audit: Option<&Audit>| audit::add(audit, SOURCES, |all| files::write_merged(dir.as_deref(), all));
        let Some(parts) = parts else {
            is_for_all.then(|| merge(None));
            let is_unseen = assertion.is_some() && passes(config, report);
            return is_unseen.then(|| "no audit of a check that is not complete".to_owned());
        };
        let order = audit::Order { which: &self.which, config, longest, parts, resumes: Some(*resumes), subject };
        let audit = match audit::carry_out(order) {
            Ok(audit) => audit,
            Err(error) => __rust_begin_short_backtrace(&format!("rsmc: {}", visible(&error.to_string()))),
        };
        let complaint = assertion.and_then(|assertion| assertion.complaint(&audit, longest, SOURCES));
        let write =
            || files::write_audit(dir.as_deref(), &files::name_of(self.path), &Forms::new(&audit, None, SOURCES));
        if is_for_all {
            said::say(&self.who, &write());
            merge(Some(&audit));
        }
        complaint.map(|text| if is_for_all { text } else { format!("{text}\n{}\n", visible(&write())) })
    }

    /// Says how the check went.
    #[track_caller]
    pub(crate) fn report(self, mut report: Report, interrupts: Option<long::Listening>, see: See<'_>) {
        let mut text = self.text_and_files(&mut report);
        if self.quotes {
            text += &in_one_piece(&report, &text);
        }
        let passes = passes(&self.settings.config, &report);
        self.end(&report, text, passes, interrupts, see);
    }

    /// The text of a report. A failure leaves its seed in a file if it is long, and pictures if there is a folder for
    /// them.
    pub(crate) fn text_and_files(&self, report: &mut Report) -> String {
        let Settings { config, dir, .. } = &self.settings;
        let mut seed_file = None;
        if let Verdict::Failed(failure) = &report.verdict
            && failure.kind.is_replayed()
        {
            seed_file = files::keep(&failure.seed, dir.as_deref(), &files::name_of(self.path));
            let note = |flags: String| format!("the command needs the same RUSTFLAGS={}", report::quoted(&flags));
            report.notes.extend(env::rustflags().map(note));
        }
        if !config.weakened.is_empty() {
            report.notes.push(format!("orderings are weaker than written: {}", Weakened::list(&config.weakened)));
        }
        let test = self.which.for_cargo();
        let options = terminal::render_options(test).seed_file(seed_file.as_deref());
        let text = report::text(report, &options, SOURCES);
        let (Some(dir), Some(diagram)) = (dir, report::diagram(report, config, test, SOURCES)) else {
            return text;
        };
        let written = visible(&files::write(dir, &files::name_of(self.path), &diagram));
        format!("{}\n{written}\n", text.trim_end_matches('\n'))
    }

    /// Says something of the check on stderr, where libtest does not keep it.
    pub(crate) fn say(&self, what: &str) {
        said::say(&self.who, what);
    }

    /// Panics with the text if the check does not pass.
    #[track_caller]
    pub(crate) fn end(
        self,
        report: &Report,
        mut text: String,
        mut passes: bool,
        interrupts: Option<long::Listening>,
        see: See<'_>,
    ) {
        let Self { settings, which, who, path, complaint, .. } = self;
        let Settings { config, fails_incomplete, summary, annotates, .. } = settings;
        if passes && fails_incomplete && matches!(report.verdict, Verdict::Incomplete(_)) {
            passes = false;
            text += "\nRSMC_INCOMPLETE=fail: a check that is not complete fails";
        }
        let is_stronger = complaint.is_some();
        if let Some(complaint) = complaint {
            passes = false;
            text = format!("{complaint}\n{text}");
        }
        if let Some(file) = summary
            && let Err(why) = summary::append(&file, report, path, which.test(), Location::caller(), passes)
        {
            passes = false;
            text += &format!("\n{}", visible(&why));
        }
        see(report, &|what| said::say(&who, what));
        report.stale_pins.iter().for_each(|note| said::say(&who, note));
        if annotates && !passes {
            let kind = if is_stronger { "audit" } else { annotate::kind(report) };
            annotate::print(report, &config, (kind, &text), which.for_cargo(), Location::caller());
        }
        if let Some(interrupts) = interrupts {
            interrupts.end(&text);
        }
        if !passes {
            __rust_begin_short_backtrace(&text);
        }
        if !config.allow_trivial {
            said::say_if_trivial(&who, report);
        }
        #[allow(clippy::print_stdout, reason = "what a passing test found out; cargo shows it with --nocapture")]
        {
            println!("rsmc: {text}");
        }
    }
}

/// The text of the panic that made an execution fail, as an addition to a report that breaks its lines.
fn in_one_piece(report: &Report, text: &str) -> String {
    let Verdict::Failed(failure) = &report.verdict else { return String::new() };
    let panic = Panicked::cause(&failure.panics).map(|number| &failure.panics[number].message);
    match panic.filter(|message| !message.lines().all(|line| text.contains(line.trim()))) {
        Some(message) => format!("\nthe panic in one piece:\n{}\n", visible(message)),
        None => String::new(),
    }
}

/// Stacks are at least as large where every operation is printed on them.
const TRACED_STACK: usize = 1024 * 1024;

/// As [`jobs::check`] in this process; every operation is printed while it happens.
#[track_caller]
fn trace(config: &Config, body: &(dyn Fn() + Sync)) -> Result<Report, ConfigError> {
    ends::prepare();
    let config = config.clone().stack_size(config.stack_size.max(TRACED_STACK));
    check_body(&config, body, |body| {
        let live = RefCell::new(report::Live::new(SOURCES));
        let watcher = Rc::new(move |run: &Run| {
            #[allow(clippy::print_stderr, reason = "asked for by RSMC_LOG, and captured with what the body prints")]
            live.borrow_mut().news(run).iter().for_each(|line| eprintln!("{line}"));
        });
        body.check().trace(watcher).run()
    })
}

/// A check that ended at a limit passes only if the user asked for that limit, or for samples (`random`, `pct`).
pub(crate) fn passes(config: &Config, report: &Report) -> bool {
    match &report.verdict {
        Verdict::Verified | Verdict::Incomplete(Limit::Executions(_) | Limit::Replay) => true,
        Verdict::Incomplete(Limit::Duration(_)) => config.max_duration_chosen,
        Verdict::Incomplete(Limit::Memory(_)) => config.max_memory.is_some(),
        _ => false,
    }
}
