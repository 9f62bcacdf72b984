//! Random programs in which a thread spins.

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
}

/// Loops that wait: for one location, for one of two, for one after looking at another, for what the thread itself
/// wrote to change, with a swap, for a lock that is released again, and twice at the same lines, with and without a
/// hint.
const LOOPS: [&str; 10] = [
    "    a = x\n    while a == 0 {\n        spin\n        a = x\n    }\n",
    "    a = x\n    if a == 0 { b = y }\n    while a + b == 0 {\n        spin\n        a = x\n        if a == 0 { b = y }\n    }\n",
    "    a = y\n    b = x\n    while b == 0 {\n        spin\n        a = y\n        b = x\n    }\n",
    "    x = 1\n    a = 1\n    while a == 1 {\n        a = x\n        if a == 1 { spin }\n    }\n",
    "    a = swap(x, 0)\n    while a == 0 {\n        spin\n        a = swap(x, 0)\n    }\n",
    "    while a == 0 {\n        a = cas(x, 0, 1)\n        if a == 0 { spin }\n    }\n    x = 0\n",
    "    while i < 2 {\n        a = 0\n        while a == 0 {\n            a = x\n            spin\n        }\n        i = i + 1\n    }\n",
    "    while i < 4 {\n        a = 0\n        while a == 0 {\n            a = x\n        }\n        i = i + 1\n    }\n",
    "    a = 1\n    while a == 1 {\n        b = x\n        while b == 1 {\n            spin\n            b = x\n        }\n        a = swap(x, 1)\n        if a == 1 { spin }\n    }\n    x = 0\n",
    "    a = x\n    b = cas(x, a, 2)\n    while b == 0 {\n        a = x\n        b = cas(x, a, 2)\n    }\n",
];

/// Loops whose iterations begin alike whatever they read, and that end where a read lacks what an earlier one knew of.
const FORGETTING: [&str; 3] = [
    "    while c == 0 {
        a = y
        b = x
        if a == 1 {
            if b == 0 { c = 1 }
        }
        a = 0
        b = 0
        spin
    }
",
    "    while c == 0 {
        a = y
        b = x
        c = a + b
        if c == 2 { c = 0 }
        a = 0
        b = 0
        spin
    }
",
    "    while c == 0 {
        a = swap(y, 1)
        b = x
        c = 1 - b
        a = 0
        b = 0
        spin
    }
",
];

/// A program with a thread that waits in a loop, perhaps a second one that waits for a lock, and one or two that write.
///
/// In every other program the last thread ends by setting both locations, so that fewer wait for ever. For C11
/// orderings of loads are drawn, too.
pub fn program(seed: u64, memory: MemoryModel) -> Program {
    let text = text(&LOOPS, seed, memory);
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// Such a program with fences behind some of its reads, in loops, too, of which half forget what they read.
pub fn fenced(seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 41));
    let loops: &[&str] = if draw.below(2) == 0 { &LOOPS } else { &FORGETTING };
    let text: String = text(loops, seed, memory).lines().map(|line| fence_behind(line, &mut draw)).collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// A program with a thread that waits in a loop that is drawn, too.
pub fn drawn(seed: u64, memory: MemoryModel) -> Program {
    let body = drawn_loop(&mut Draw(mix(seed, 53)));
    let text = text(&[&body], seed, memory);
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// A loop that ends when `c` is 1: some steps, a condition on what they read, and what of that it forgets.
fn drawn_loop(draw: &mut Draw) -> String {
    let steps: String = (0..1 + draw.below(3)).map(|at| drawn_step(draw, ["a", "b", "a"][at as usize])).collect();
    let ends = [
        "        c = a\n",
        "        c = b\n",
        "        c = a + b\n        if c == 2 { c = 0 }\n",
        "        c = 1 - b\n",
        "        c = 1 - a\n",
        "        if a == 1 {\n            if b == 0 { c = 1 }\n        }\n",
        "        if a == b { c = 1 }\n",
        "        if a == 0 {\n            if b == 1 { c = 1 }\n        }\n",
    ][draw.below(8) as usize];
    let forgets: String =
        ["        a = 0\n", "        b = 0\n"].iter().filter(|_| draw.below(3) > 0).copied().collect();
    let spin = if draw.below(2) == 0 { "        spin\n" } else { "" };
    let first = if draw.below(4) == 0 { "    x = 1\n" } else { "" };
    format!("{first}    while c == 0 {{\n{steps}{ends}{forgets}{spin}    }}\n")
}

/// A step of a loop that reads into a register, and may change something.
fn drawn_step(draw: &mut Draw, register: &str) -> String {
    let loc = ["x", "y", "z"][draw.below(3) as usize];
    match draw.below(13) {
        0..=4 => format!("        {register} = {loc}\n"),
        5 => format!("        {register} = add({loc}, 0)\n"),
        6 => format!("        {register} = cas({loc}, 1, 1)\n"),
        7 => format!("        if a == 1 {{ b = {loc} }}\n"),
        8 => format!("        lock m\n        {register} = {loc}\n        unlock m\n"),
        9 => format!("        {register} = swap({loc}, {})\n", draw.below(2)),
        10 => format!("        {register} = cas({loc}, {}, 1)\n", draw.below(2)),
        11 => format!("        if a == 0 {{ b = swap({loc}, 1) }}\n"),
        _ => format!("        {register} = {loc}\n        fence\n"),
    }
}

/// A line, perhaps with a fence behind it, if it is a read.
fn fence_behind(line: &str, draw: &mut Draw) -> String {
    let reads = ["= x", "= y", "= z", "swap(", "cas(", "add("].iter().any(|part| line.contains(part));
    let fence = ["", "    fence\n", "    fence.acq\n"][if reads { draw.below(3) as usize } else { 0 }];
    format!("{line}\n{fence}")
}

/// The text of a program whose first thread has one of these loops.
fn text(loops: &[&str], seed: u64, memory: MemoryModel) -> String {
    let mut draw = Draw(mix(seed, 5));
    let mut text = String::from("t1:\n");
    if draw.below(3) == 0 {
        text += "    z = 1\n";
    }
    text += loops[draw.below(loops.len() as u64) as usize];
    text += "    c = z\n";
    let spinners = 1 + u64::from(draw.below(6) == 0);
    if spinners == 2 {
        text += "t2:\n";
        let second = [5, 5, 8][draw.below(3) as usize];
        text += &LOOPS[second].replace("a ", "e ").replace("b ", "f ");
    }
    let threads = spinners + 1 + if spinners == 1 { draw.below(2) } else { 0 };
    for thread in spinners + 1..=threads {
        text += &format!("t{thread}:\n");
        for at in 0..1 + draw.below(4 - spinners) {
            let loc = ["x", "x", "y", "z"][draw.below(4) as usize];
            text += &match draw.below(4) {
                0 => format!("    d{at} = {loc}\n"),
                1 => format!("    d{at} = add({loc}, 1)\n"),
                _ => format!("    {loc} = {}\n", draw.below(2)),
            };
        }
    }
    if seed.is_multiple_of(2) {
        text += "    x = 1\n    y = 1\n";
    }
    let weaken = if memory == MemoryModel::C11 { weakened_access } else { weakened };
    text.lines().map(|line| weaken(line, &mut draw) + "\n").collect()
}

/// A program with a thread that polls under one or two locks, and one or two that try the locks, take them, and write.
pub fn polling(seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 29));
    let mut text = String::from("t1:\n    while a == 0 {\n");
    let round = polled_round(&mut draw);
    text += &round;
    text += "    }\n";
    if draw.below(3) == 0 {
        text += "    e = z\n";
    }
    // Elsewhere brute force takes longer.
    let is_sc = memory == MemoryModel::Sc;
    let others = if is_sc { 1 + draw.below(3).min(1) } else { 1 };
    for thread in 2..2 + others {
        text += &format!("t{thread}:\n");
        for at in 0..1 + draw.below(if is_sc { 4 - others } else { 2 }) {
            text += &tried_step(&mut draw, at, round.contains("lock n"));
        }
        if draw.below(2) == 0 {
            text += "    x = 1\n";
        }
    }
    let weaken = if memory == MemoryModel::C11 { weakened_access } else { weakened };
    let text: String = text.lines().map(|line| weaken(line, &mut draw) + "\n").collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// An iteration that takes a lock, perhaps a second one within it or behind it, and looks before, between and after.
fn polled_round(draw: &mut Draw) -> String {
    let taken: &[&str] = match draw.below(5) {
        0 => &["lock m", "lock n", "unlock n", "unlock m"],
        1 => &["lock m", "unlock m", "lock n", "unlock n"],
        _ => &["lock m", "unlock m"],
    };
    let decisive = draw.below(taken.len() as u64 + 1) as usize;
    let mut text = String::new();
    for (at, step) in taken.iter().copied().chain([""]).enumerate() {
        if at == decisive {
            text += "        a = x\n";
        }
        if draw.below(3) == 0 {
            text += ["        b = y\n", "        b = y\n", "        c = x\n"][draw.below(3) as usize];
        }
        text += &format!("        {step}\n");
    }
    if draw.below(2) == 0 { text + "        spin\n" } else { text }
}

/// A step of a thread beside one that polls.
fn tried_step(draw: &mut Draw, at: u64, has_second: bool) -> String {
    let lock = if has_second && draw.below(2) == 0 { "n" } else { "m" };
    let loc = ["x", "y", "z"][draw.below(3) as usize];
    match draw.below(6) {
        0..=2 => format!("    g{at} = trylock {lock}\n    if g{at} {{ unlock {lock} }}\n"),
        3 => format!("    lock {lock}\n    {loc} = 1\n    unlock {lock}\n"),
        4 => format!("    d{at} = {loc}\n"),
        _ => format!("    {loc} = {}\n", 1 + draw.below(2)),
    }
}

/// A line with the ordering of its store drawn, if it is one.
fn weakened(line: &str, draw: &mut Draw) -> String {
    let start = line.len() - line.trim_start().len();
    let is_store = line[start..].starts_with(['x', 'y', 'z']) && line[start + 1..].starts_with(" = ");
    let order = ["", ".rlx", ".rlx", ".rel"][if is_store { draw.below(4) as usize } else { 0 }];
    let (name, rest) = line.split_at(if is_store { start + 1 } else { 0 });
    format!("{name}{order}{rest}")
}

/// A line with the ordering of its access drawn, if it is a load or a store.
fn weakened_access(line: &str, draw: &mut Draw) -> String {
    let is_load = [" = x", " = y", " = z"].iter().any(|end| line.ends_with(end));
    let order = ["", ".rlx", ".rlx", ".acq"][if is_load { draw.below(4) as usize } else { 0 }];
    weakened(line, draw) + order
}
