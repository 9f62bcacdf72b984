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

/// A program with a thread that waits in a loop, perhaps a second one that waits for a lock, and one or two that write.
///
/// In every other program the last thread ends by setting both locations, so that fewer wait for ever. For C11
/// orderings of loads are drawn, too.
pub fn program(seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 5));
    let mut text = String::from("t1:\n");
    if draw.below(3) == 0 {
        text += "    z = 1\n";
    }
    text += LOOPS[draw.below(10) as usize];
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
    let text: String = text.lines().map(|line| weaken(line, &mut draw) + "\n").collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
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
