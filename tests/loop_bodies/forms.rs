//! Loops that wait, of other forms: nested, with several hints, as iterators, in helpers, with rounds that differ.

use std::time::Duration;

use rsmc::sync::atomic::AtomicU32;
use rsmc::{hint, thread};

use super::body::{END, How, MANY, Shape, Shared, shapes};

pub const SHAPES: &[(&str, Shape)] = shapes! {
    nested, nested_both, nested_again, two_hints, two_places, find, repeat_with, from_fn, while_let,
    through_dyn, helper_twice, helper_later, first_differs, second_differs, parity, alternates, ring, sleeps,
    by_value_of_other, arguments,
};

fn nested(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.load(h.order) == 0 {
        for _ in 0..3 {
            if y.load(h.order) != 0 {
                break;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
    y.load(h.order)
}

fn nested_both(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.load(h.order) == 0 {
        while y.load(h.order) == 0 && x.load(h.order) == 0 {
            hint::spin_loop();
        }
        h.pause();
    }
    y.load(h.order)
}

fn nested_again(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut rounds = 0;
    'again: loop {
        for _ in 0..2 {
            if x.load(h.order) != 0 {
                break 'again;
            }
            h.pause();
        }
        if y.load(h.order) != 0 {
            rounds = (rounds + 1).min(2);
            continue 'again;
        }
        thread::yield_now();
    }
    rounds
}

fn two_hints(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut yielded = 0;
    while x.load(h.order) == 0 {
        if y.load(h.order) == 0 {
            hint::spin_loop();
        } else {
            yielded = 1;
            thread::yield_now();
        }
    }
    yielded
}

fn two_places(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    loop {
        if x.load(h.order) != 0 {
            return 1;
        }
        hint::spin_loop();
        if y.load(h.order) != 0 {
            return 2;
        }
        hint::spin_loop();
    }
}

fn find(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let found = (0_u32..).find(|_| {
        h.pause();
        x.load(h.order) != 0
    });
    found.expect("there are many numbers").min(2)
}

fn repeat_with(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    std::iter::repeat_with(|| x.load(h.order)).inspect(|_| h.pause()).find(|&value| value > 1).expect("endless")
}

fn from_fn(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let looks = std::iter::from_fn(|| {
        h.pause();
        let value = x.load(h.order);
        (value != END).then_some(value)
    });
    looks.take(h.n as usize).fold(1, |sum, value| (3 * sum + value) % 1_000)
}

fn while_let(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let blocked = || (x.load(h.order) == 0).then(|| y.load(h.order));
    let mut last = 9;
    while let Some(value) = blocked() {
        last = value;
        h.pause();
    }
    last
}

fn through_dyn(s: &Shared, h: How) -> u32 {
    fn until(ready: &dyn Fn() -> Option<u32>) -> u32 {
        loop {
            if let Some(value) = ready() {
                return value;
            }
        }
    }
    let [x, y, _] = s.chosen(h);
    until(&|| {
        h.pause();
        (x.load(h.order) != 0).then(|| y.load(h.order))
    })
}

/// Gives up after `tries` looks.
#[inline(never)]
fn wait(x: &AtomicU32, tries: u32, h: How) -> bool {
    for _ in 0..tries {
        if x.load(h.order) != 0 {
            return true;
        }
        h.pause();
    }
    false
}

fn helper_twice(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let first = wait(x, h.n, h);
    let second = wait(y, MANY, h);
    2 * u32::from(first) + u32::from(second)
}

fn helper_later(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    wait(x, MANY, h);
    let (first, second) = (wait(y, 2, h), wait(x, h.n, h));
    2 * u32::from(first) + u32::from(second)
}

fn first_differs(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let (mut first, mut seen) = (true, 0);
    while x.load(h.order) == 0 {
        if first {
            seen = y.load(h.order);
        }
        first = false;
        h.pause();
    }
    10 * seen + u32::from(first)
}

fn second_differs(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let (mut round, mut seen) = (0, 9);
    while x.load(h.order) == 0 {
        if round == h.n.min(3) {
            seen = y.load(h.order);
        }
        round = (round + 1).min(4);
        h.pause();
    }
    seen
}

fn parity(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut odd = false;
    while x.load(h.order) == 0 {
        odd = !odd;
        h.pause();
    }
    u32::from(odd)
}

fn alternates(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut odd = false;
    loop {
        let value = if odd { x.load(h.order) } else { y.load(h.order) };
        if value > 1 {
            return 10 * u32::from(odd) + value;
        }
        odd = !odd;
        h.pause();
    }
}

/// The last values, in an array on the stack.
fn ring(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let (mut ring, mut at) = ([0; 2], 0);
    while x.load(h.order) != END {
        ring[at] = y.load(h.order);
        at = 1 - at;
        h.pause();
    }
    10 * ring[0] + ring[1]
}

fn sleeps(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.load(h.order) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    y.load(h.order)
}

/// How long it pauses depends on another value.
fn by_value_of_other(s: &Shared, h: How) -> u32 {
    let [x, y, z] = s.chosen(h);
    let mut pauses = 0;
    while x.load(h.order) == 0 {
        for _ in 0..y.load(h.order).min(2) {
            pauses = (pauses + 1).min(h.n);
            h.pause();
        }
    }
    10 * pauses + z.load(h.order)
}

/// What it remembers is handed on as an argument: calls that end with a call of themselves.
fn arguments(s: &Shared, h: How) -> u32 {
    fn again(x: &AtomicU32, y: &AtomicU32, h: How, before: u32) -> u32 {
        match x.load(h.order) {
            0 => {
                h.pause();
                let now = y.load(h.order);
                if now + before > 3 { 10 * before + now } else { once_more(x, y, h, now) }
            }
            _ => before,
        }
    }
    /// Repeats itself at the same depth of the stack.
    fn once_more(x: &AtomicU32, y: &AtomicU32, h: How, mut before: u32) -> u32 {
        loop {
            if x.load(h.order) != 0 {
                return before;
            }
            before = before.max(y.load(h.order));
            h.pause();
        }
    }
    let [x, y, _] = s.chosen(h);
    again(x, y, h, 0)
}
