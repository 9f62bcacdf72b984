//! Random programs in which threads go round loops: some wait, some count, some do both.

use rsmc_core::base::mix;
use rsmc_core::model::MemoryModel;
use rsmc_testkit::litmus::{Program, parse};

/// A stream of small numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = mix(self.0, 11);
        self.0 % bound
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// Loops. `X` and `Y` become two different locations. A `?` at the end of a line makes the line optional.
const LOOPS: &[&str] = &[
    // They wait for one location.
    "while a == 0 {; a = X; spin?; }",
    "a = X; while a == 0 {; spin; a = X; }",
    "while a < 2 {; a = X; spin?; }",
    "X = 1?; a = 1; while a == 1 {; a = X; if a == 1 { spin }; }",
    "while a == 0 {; fence; a = X; }",
    // They look at two.
    "while a + b == 0 {; a = X; b = Y; }",
    "while a + b < 2 {; a = X; spin?; b = Y; spin; }",
    "while a == 0 {; a = X; if a == 0 { a = Y }; spin?; }",
    "b = 1; while (a == b) == 0 {; a = X; b = Y; }",
    "while a == 0 {; spin; b = Y; spin; a = X; spin; }",
    "while a == 0 {; p = X; b = Y; q = X; if p == q { a = 1 }; }",
    "while a == 0 {; if t == 0 { a = X; t = 1 } else { a = Y; t = 0 }; }",
    // They count up to a bound.
    "while i < 2 {; a = X; i = i + 1; }",
    "while i < 3 {; a = X; if a { i = 3 } else { i = i + 1 }; }",
    "while a == 0 upto 2 {; a = X; spin?; }",
    "while a == 0 upto 3 {; a = X; b = Y; }",
    // One within another.
    "while i < 2 {; a = 0; while a == 0 {; a = X; spin?; }; i = i + 1; }",
    "while i < 2 {; a = 0; while a == 0 {; a = X; }; b = Y; i = i + 1; }",
    "while b == 0 {; a = 0; while a == 0 {; a = X; }; b = Y; }",
    "while b == 0 {; i = 0; while i < 2 {; a = X; i = i + 1; }; b = Y; }",
    // They back off.
    "while a == 0 {; a = X; if n < 2 { spin; n = n + 1 } else { spin }; }",
    "while a == 0 {; a = X; if n < 3 { n = n + 1 }; }",
    "while a == 0 {; i = 0; while i < n {; spin; i = i + 1; }; if n < 2 { n = n + 1 }; a = X; }",
    // They keep what they saw.
    "while b < 2 {; a = X; if b < a { b = a }; }",
    "while b == 0 {; a = X; if b < a { b = a }; c = Y; if d < c { d = c }; }",
    "while (a == 2) == 0 {; p = a; a = X; }",
    "while n < 2 {; a = X; if a != p { n = n + 1; p = a }; spin?; }",
    "while a == 0 {; a = X; c = Y; d = d || c; }",
    // They try again.
    "while s == 0 {; a = X; s = cas(X, a, a + 1); }",
    "while s == 0 {; s, a = cas(X, a, a + 1); }",
    "while s == 0 {; s = cas(X, 0, 1); if s == 0 { spin }; }; b = Y?; X.rel = 0",
    "while s == 0 {; s = cas(X, 1, 2); }",
    "while s == 0 {; s = cas(X, 0, 1); b = Y; }; Y.rlx = 1?",
    "a = 1; while a == 1 {; a = swap(X, 1); }; b = Y?; X.rel = 0?",
    "while a == 0 {; a = swap(X, 0); spin?; }",
    "while a == 0 {; a = add(X, 0); }",
    // They go on with something else. (`TAKING_BACK` has those that take back what they have changed.)
    "while a == 0 {; a = X; spin?; }; b = Y?; X = 0?",
    "while s == 0 {; b = X; a = Y; if a { s = 1 }; }",
    // They wake others, or themselves.
    "while a == 0 {; unpark t1; a = X; spin?; }; park?",
    "while a == 0 {; unpark t2; b = Y?; a = X; }",
    "while a == 0 {; a = X; if a == 0 { unpark t1 }; b = Y; if b { park }; }",
    // They may fail without cause.
    "while s == 0 {; s = wcas(X, 0, 1); if s == 0 { spin }; }; b = Y?; X.rel = 0",
    "while s == 0 {; s = wcas(X, 0, 1); a = 1 - s; while a == 1 {; a = X; spin?; }; }; Y = 1?; X.rel = 0",
    "while s == 0 {; s = wcas(X, 0, 1); if s == 0 { a = Y; if a { s = 1 } }; }",
    "while s == 0 {; a = X; s = wcas(X, a, a + 1); }",
    "while s == 0 {; s, a = wcas(X, a, a + 1); }",
    "while s == 0 upto 2 {; s = wcas(X, 0, 1); b = Y; }",
    "while s + n < 2 {; s = wcas(X, 0, 1); if s == 0 { n = 1 }; spin?; }",
    "while a == 0 {; c = maybe; if c { a = X } else { a = Y }; }",
    "while c + a == 0 {; c = maybe; a = X; }",
    // They choose.
    "while a + c == 0 {; a = X; c = choose 2; }",
    "while a + c == 0 {; c = choose 2; a = X; }",
    "while a == 0 {; c = choose 2; if c { a = X } else { a = Y }; spin?; }",
    "while c == 0 {; a = X; if a { c = 1 } else { c = choose 3 }; }; b = Y?",
    "c = 1; while c == 1 {; c = choose 2; b = Y; }; X = 2?",
    "while a == 0 {; a = X; if a == 0 { c = choose 2; if c { Y = 1; a = 1 } }; }",
    // They take locks.
    "while l == 0 {; l = trylock m; spin?; }; Y = 1?; unlock m",
    "while l == 0 {; l = trylock m; b = Y; }; unlock m?",
    "while a == 0 {; lock m; a = X; unlock m; }",
    "while a == 0 {; lock m; a = X; b = Y; unlock m; spin; }",
    "while a == 0 {; l = trylock m; if l { a = X; unlock m }; }",
    "lock m?; while a == 0 {; a = X; }",
];

/// Loops that look more often than the bound of the rule for loops that count, and then give up.
const COUNTING: &[&str] = &[
    "while a == 0 upto 6 {; a = X; spin?; }",
    "while a == 0 upto 6 {; a = X; fence; }",
    "while i < 6 {; a = X; if a { i = 6 } else { i = i + 1 }; }",
    "while i < 6 {; i = i + 1; a = X; if a { i = 6 }; spin; }",
    "while s == 0 upto 6 {; s = cas(X, 1, 2); spin?; }",
    "while a == 0 upto 6 {; a = add(X, 0); }",
    "a = 1; while a == 1 upto 6 {; a = swap(X, 1); }; X = 0?",
    "while l == 0 upto 6 {; l = trylock m; spin?; }; if l { unlock m }",
    "while a == 0 upto 6 {; a = X; spin; }; while c == 0 upto 6 {; c = Y; }",
    "while a == 0 upto 6 {; a = X; }; if a == 0 { Y = 1 }",
    "while a == 0 upto 6 {; a = X; }; if a == 0 { lock m; X = 2; unlock m }",
    "while a == 0 {; a = X; if i < 6 { i = i + 1 }; }",
];

/// Loops that change something in every iteration, and take it back as long as they wait.
const TAKING_BACK: &[&str] = &[
    "while s == 0 {; a = add(X, 2); if a == 0 { s = 1 } else { a = sub(X, 2) }; spin?; }; b = Y?; X = 0?",
    "while s == 0 {; a = add(X, 2); if a < 2 { s = 1 } else { c = sub(X, 2) }; }",
    "while s == 0 {; or(X, 2); a = Y; if a { s = 1 }; and(X, 1); }",
    "while a == 0 {; c = xor(X, 4); a = Y; c = xor(X, 4); spin?; }",
    "while a == 0 {; c = xor(X, 4); d = xor(Y, 4); a = z; d = xor(Y, 4); c = xor(X, 4); }",
    "while a + b < 2 {; c = add(X, 1); b = Y; c = sub(X, 1); a = X; }",
    "while a == 0 {; g = cas(X, 0, 3); if g { a = Y; X = 0 }; spin?; }",
    "while a == 0 {; g = swap(X, 3); a = Y; X = 0; spin?; }",
    "while a == 0 {; g = 1; while g == 1 {; g = swap(X, 1); }; a = Y; X.rel = 0; spin?; }",
    "while a == 0 {; g = cas(X, 0, 1); b = swap(Y, g); if b == 0 { a = z }; Y = b; if g { X = 0 }; }",
    "while a == 0 {; lock m; c = add(X, 1); a = Y; c = sub(X, 1); unlock m; }",
    "while a == 0 {; l = trylock m; if l { c = add(X, 1); a = Y; c = sub(X, 1); unlock m }; spin?; }",
    "while a + c == 0 {; d = add(X, 1); a = Y; d = sub(X, 1); c = choose 2; }",
];

/// Loops that look at plain memory under a lock, which `TAKE` takes, `TRY` tries to take, and `GIVE` gives back. A line
/// that ends with `?` is optional.
const GUARDED: &[&str] = &[
    "while a == 0 {; TAKE; a = peek c; GIVE; spin?; }",
    "while a == 0 {; TAKE; a = peek c; b = peek d; GIVE; }",
    "while a + b < 2 {; TAKE; a = peek c; GIVE; TAKE; b = peek d; GIVE; spin?; }",
    "while a == 0 {; TAKE; a = peek c; if a { poke c 0 }; GIVE; }; b = y?",
    "while a == 0 {; TRY; if l { a = peek c; GIVE }; spin?; }",
    "while a == 0 {; TRY; if l { a = peek c; GIVE } else { b = y }; }",
    "while a == 0 {; TAKE; b = peek c; poke c b + 1; a = peek d; poke c b; GIVE; }",
    "while a == 0 {; h = add(y, 1); TAKE; a = peek c; GIVE; h = sub(y, 1); spin?; }",
    "while a == 0 {; TAKE; h = add(y, 1); a = peek c; h = sub(y, 1); GIVE; }",
    "while a == 0 {; b = y; if b { TAKE; a = peek c; GIVE } else { spin }; }",
    "while i < 2 {; TAKE; a = peek c; GIVE; if a != b { i = i + 1; b = a }; }",
];

/// Loops that are drawn in one of sixteen cases: they write for ever, or wait in some other way.
const ODD: &[&str] = &[
    "while a == 0 {; Y = 1; a = X; }",
    "while a == 0 {; a = swap(X, 2); X = 0; }",
    "while a == 0 {; park; a = X; }",
    "while s == 0 {; s = wcas(X, 0, 1); }",
    "while s == 0 {; s = wcas(X, 1, 2); b = Y; }",
    "while a == 0 {; c = maybe; a = X; }",
];

/// A program with one or two threads in loops, and one or two that write.
///
/// In every other program the last thread ends by setting `x` and `y`, so that fewer wait for ever.
pub fn program(seed: u64, memory: MemoryModel) -> Program {
    program_with(LOOPS, seed, memory)
}

/// A program with loops that count.
pub fn counting(seed: u64, memory: MemoryModel) -> Program {
    program_with(COUNTING, seed, memory)
}

fn program_with(loops: &[&str], seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 17));
    let loopers = 1 + u64::from(draw.below(4) == 0);
    let threads = loopers + 1 + u64::from(loopers == 1 && draw.below(3) > 0);
    let mut text = String::new();
    for thread in 1..=loopers {
        text += &format!("t{thread}:\n");
        looper(&mut text, &mut draw, loops, loopers == 1);
    }
    for thread in loopers + 1..=threads {
        text += &format!("t{thread}:\n");
        writer(&mut text, &mut draw, thread, threads);
    }
    if draw.below(2) == 0 {
        text += "    x = 1\n    y = 1\n";
    }
    if draw.below(4) == 0 {
        text = first_is_main(&text, threads);
    }
    let text: String = text.lines().map(|line| weakened(line, &mut draw, memory) + "\n").collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// The program with its first thread as main, which spawns the others first and joins them last.
fn first_is_main(text: &str, threads: u64) -> String {
    let others = |what: &str| (2..=threads).map(|other| format!("    {what} t{other}\n")).collect::<String>();
    let (own, rest) = text.split_once("t2:").expect("there are two threads");
    let own = own.replacen("t1:\n", "", 1).replace("unpark t1", "unpark main");
    let rest = rest.replace("unpark t1", "unpark main");
    format!("main:\n{}{own}{}t2:{rest}", others("spawn"), others("join"))
}

/// The code of a thread with a loop: perhaps a store, the loop, perhaps a load and an assertion.
fn looper(text: &mut String, draw: &mut Draw, loops: &[&str], alone: bool) {
    if draw.below(4) == 0 {
        *text += draw.one_of(&["    z = 1\n", "    y = 1\n", "    lock m\n    z = 1\n    unlock m\n"]);
    }
    let locs = draw.one_of(&["xy", "xy", "xz", "yx"]);
    let chosen = if draw.below(16) == 0 { draw.one_of(ODD) } else { draw.one_of(loops) };
    let chosen = chosen.replace('X', &locs[..1]).replace('Y', &locs[1..]);
    // Lines within a line belong to an `if` and stay together.
    let mut depth = 0;
    let mut line = String::new();
    for part in chosen.split("; ").chain([""]) {
        let inline = depth > 0 && !line.is_empty();
        line = if inline { format!("{line}; {part}") } else { part.to_owned() };
        depth = line.matches(" { ").count() as i64 - line.matches(" }").count() as i64;
        if depth > 0 {
            continue;
        }
        let kept = line.trim_end_matches([';', '?']);
        if !line.ends_with('?') || draw.below(2) == 0 {
            *text += &format!("    {kept}\n");
        }
        line.clear();
    }
    if alone && draw.below(2) == 0 {
        *text += draw.one_of(&["    e = z\n", "    e = x\n", "    e = y\n"]);
    }
    if draw.below(4) == 0 {
        *text +=
            draw.one_of(&["    assert a == 1\n", "    assert b == 0\n", "    assert e == 0\n", "    assert i < 3\n"]);
    }
}

/// The code of a thread that writes.
fn writer(text: &mut String, draw: &mut Draw, thread: u64, threads: u64) {
    for at in 0..1 + draw.below(5 - threads) {
        let loc = draw.one_of(&["x", "x", "y", "z"]);
        *text += &match draw.below(12) {
            0 | 10 => format!("    g{at} = {loc}\n"),
            11 => {
                let end = draw.one_of(&["unlock m", "unlock m", "unlock m", "z = 1"]);
                format!("    g{at} = trylock m\n    if g{at} {{ {end} }}\n")
            }
            1 => format!("    g{at} = add({loc}, 1)\n"),
            2 => format!("    g{at} = swap({loc}, {})\n", draw.below(3)),
            3 => format!("    lock m\n    {loc} = {}\n    unlock m\n", draw.below(3)),
            4 if thread == 2 => format!("    g{at} = cas({loc}, 0, 1)\n    unpark t1\n"),
            _ => format!("    {loc} = {}\n", draw.below(3)),
        };
    }
}

/// A program for C11, whose executions are many: a loop, and one or two threads with little to do. It does not choose,
/// of which the axioms say nothing.
pub fn small(seed: u64, memory: MemoryModel) -> Program {
    let loops: Vec<&str> = LOOPS.iter().copied().filter(|text| !text.contains("choose")).collect();
    small_with(&loops, seed, memory)
}

/// A small program with a loop that takes back what it changes.
pub fn taking_back(seed: u64, memory: MemoryModel) -> Program {
    small_with(TAKING_BACK, seed, memory)
}

/// A small program with a loop that takes back what it changes, and gives up after six rounds.
pub fn counting_back(seed: u64, memory: MemoryModel) -> Program {
    let waits_for_one = |text: &&&str| ["while a == 0 {", "while s == 0 {"].iter().any(|one| text.starts_with(one));
    let loops = TAKING_BACK.iter().filter(waits_for_one);
    let loops: Vec<String> = loops.map(|text| text.replacen(" {;", " upto 6 {;", 1)).collect();
    small_with(&loops.iter().map(String::as_str).collect::<Vec<_>>(), seed, memory)
}

/// A program whose threads look at plain memory and change it under one lock, which is a `Mutex` or their own.
pub fn guarded(seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 29));
    let orders = if memory == MemoryModel::C11 { "" } else { ".rel" };
    let (take, attempt, give) = match draw.below(4) {
        0 => ("lock m".to_owned(), "l = trylock m", "unlock m".to_owned()),
        1 => ("g = 0\nwhile g == 0 {\ng = cas(x, 0, 1)\n}".to_owned(), "l = cas(x, 0, 1)", format!("x{orders} = 0")),
        _ => ("g = 1\nwhile g == 1 {\ng = swap(x, 1)\n}".to_owned(), "l = cas(x, 0, 1)", format!("x{orders} = 0")),
    };
    let mut text = String::from("t1:\n");
    for line in draw.one_of(GUARDED).split("; ") {
        if !line.ends_with('?') || draw.below(2) == 0 {
            text += &format!("{}\n", line.trim_end_matches([';', '?']));
        }
    }
    let threads = 2 + draw.below(2);
    for thread in 2..=threads {
        text += &format!("t{thread}:\n");
        guarded_writer(&mut text, &mut draw, threads);
    }
    let is_tracked = draw.below(3) == 0;
    let mut whole = String::new();
    for part in text.lines().flat_map(|line| line.split("; ")) {
        whole += &part.replace("TAKE", &take).replace("TRY", attempt).replace("GIVE", &give);
        whole.push('\n');
    }
    if is_tracked {
        for (register, cell) in ["a", "b", "e"].into_iter().flat_map(|register| [(register, "c"), (register, "d")]) {
            let peek = format!("{register} = peek {cell}");
            whole = whole.replace(&peek, &format!("read {cell}; {peek}"));
        }
        for poke in ["poke c", "poke d"] {
            whole = whole.replace(poke, &format!("{}; {poke}", poke.replace("poke", "write")));
        }
    }
    parse(&whole).unwrap_or_else(|error| panic!("{error} in\n{whole}"))
}

/// The code of a thread that changes plain memory under the lock.
fn guarded_writer(text: &mut String, draw: &mut Draw, threads: u64) {
    for _ in 0..1 + draw.below(4 - threads) {
        let cell = draw.one_of(&["c", "c", "d"]);
        *text += &match draw.below(7) {
            // It does something, and then goes rounds itself. Of three such threads there are too many executions.
            6 if threads == 2 && !text.contains("while e") => {
                format!("TAKE\npoke {cell} 1\nGIVE\ne = 1\nwhile e == 1 {{\nTAKE\ne = peek {cell}\nGIVE\n}}\n")
            }
            0 => format!("TAKE\ne = peek {cell}\nGIVE\n"),
            1 => format!("TAKE\ne = peek {cell}\npoke {cell} e + 1\nGIVE\n"),
            2 => format!("TRY\nif l {{\npoke {cell} 1\nGIVE\n}}\n"),
            3 => "y = 1\n".to_owned(),
            4 => format!("TAKE\npoke {cell} 2\ny = 1\nGIVE\n"),
            _ => format!("TAKE\npoke {cell} 1\nGIVE\n"),
        };
    }
}

fn small_with(loops: &[&str], seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 23));
    let mut text = String::from("t1:\n");
    let alone = draw.below(3) == 0;
    looper(&mut text, &mut draw, loops, alone);
    if draw.below(4) == 0 {
        text += "    assert a == 1\n";
    }
    let threads = 2 + draw.below(2);
    for thread in 2..=threads {
        text += &format!("t{thread}:\n");
        writer(&mut text, &mut draw, thread, threads + 1);
    }
    if draw.below(3) == 0 {
        text += "    x = 1\n";
    }
    if draw.below(4) == 0 {
        text = first_is_main(&text, threads);
    }
    let text: String = text.lines().map(|line| weakened(line, &mut draw, memory) + "\n").collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// A line with the orderings of its accesses drawn, where they have none.
fn weakened_all(line: &str, draw: &mut Draw) -> String {
    let mut weak = String::new();
    for (at, letter) in line.char_indices() {
        weak.push(letter);
        let (before, after) = (&line[..at], &line[at + 1..]);
        let is_part = |other: char| other.is_alphanumeric() || other == '.';
        if !matches!(letter, 'x' | 'y' | 'z') || before.ends_with(is_part) || after.starts_with(is_part) {
            continue;
        }
        weak += match () {
            () if after.starts_with(" = ") => draw.one_of(&["", ".rlx", ".rlx", ".rel"]),
            () if before.ends_with('(') => draw.one_of(&["", ".rlx", ".acqrel"]),
            () => draw.one_of(&["", ".rlx", ".rlx", ".acq"]),
        };
    }
    weak
}

/// A line with the ordering of its store drawn, if it is one that has none.
fn weakened(line: &str, draw: &mut Draw, memory: MemoryModel) -> String {
    if memory == MemoryModel::C11 {
        return weakened_all(line, draw);
    }
    let start = line.len() - line.trim_start().len();
    let is_store = line[start..].starts_with(['x', 'y', 'z']) && line[start + 1..].starts_with(" = ");
    if memory == MemoryModel::Sc || !is_store {
        return line.to_owned();
    }
    let order = draw.one_of(&["", ".rlx", ".rlx", ".rel"]);
    let (name, rest) = line.split_at(start + 1);
    format!("{name}{order}{rest}")
}
