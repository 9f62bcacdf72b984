//! Loops that wait, with what they remember in locals, or nothing.

use rsmc::{hint, thread};

use super::body::{END, How, Shape, Shared, shapes};

pub const SHAPES: &[(&str, Shape)] = shapes! {
    plain, plain_inverted, bounded, bounded_for, saturating, counts, counts_down, snooze, adaptive, scan_any,
    scan_all, scan_with_break, round_robin, round_robin_until_end, ticket, ticket_proportional, cas_reloads,
    cas_returned, cas_weak, updates, adds_nothing, swap_lock, test_and_swap, seqlock, polls_lock,
    polls_lock_and_flag, tries_lock, tries_lock_counting, counts_under_lock, maximum, last_two,
    last_two_changed, mask_of_values,
};

fn plain(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.load(h.order) == 0 {
        h.pause();
    }
    y.load(h.order)
}

fn plain_inverted(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        h.pause();
        let value = x.load(h.order);
        if value != 0 {
            return value;
        }
    }
}

fn bounded(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = 0;
    while x.load(h.order) == 0 {
        tries += 1;
        if tries == h.n {
            return 10 * tries;
        }
        h.pause();
    }
    tries
}

fn bounded_for(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut seen = 0;
    for _ in 0..h.n {
        seen = x.load(h.order);
        if seen > 1 {
            break;
        }
        h.pause();
    }
    10 * seen + y.load(h.order)
}

fn saturating(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut n = 0_u32;
    while x.load(h.order) == 0 {
        if n < 2 {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
        n = (n + 1).min(h.n);
    }
    n
}

/// Its state never repeats.
fn counts(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut n = 0_u32;
    while x.load(h.order) == 0 {
        if n < 2 {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
        n = n.wrapping_add(1);
    }
    n.min(3)
}

fn counts_down(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut left = h.n;
    loop {
        if x.load(h.order) != 0 {
            return left;
        }
        left = left.saturating_sub(1);
        h.pause();
    }
}

/// As crossbeam's, with smaller limits.
fn snooze(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut step = 0_u32;
    while x.load(h.order) == 0 {
        if step <= 1 {
            for _ in 0..1 << step {
                hint::spin_loop();
            }
        } else {
            thread::yield_now();
        }
        if step <= 3 {
            step += 1;
        }
        if step > 3 && h.n > 2 {
            return 10 + y.load(h.order);
        }
    }
    step
}

/// Looks less patient once something changes.
fn adaptive(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let (mut before, mut same) = (x.load(h.order), 0);
    while before < END && same < h.n {
        h.pause();
        let now = x.load(h.order);
        same = if now == before { same + 1 } else { 0 };
        before = now;
    }
    10 * before + same
}

fn scan_any(s: &Shared, h: How) -> u32 {
    loop {
        for (number, x) in s.x.iter().enumerate() {
            if x.load(h.order) != 0 {
                return number as u32;
            }
        }
        h.pause();
    }
}

fn scan_all(s: &Shared, h: How) -> u32 {
    loop {
        let set = s.x.iter().filter(|x| x.load(h.order) != 0).count();
        if set == s.x.len() || set as u32 >= h.n {
            return set as u32;
        }
        h.pause();
    }
}

fn scan_with_break(s: &Shared, h: How) -> u32 {
    loop {
        let mut sum = 0;
        for x in &s.x {
            let value = x.load(h.order);
            if value == 0 {
                break;
            }
            sum += value;
        }
        if sum >= h.n {
            return sum;
        }
        h.pause();
    }
}

fn round_robin(s: &Shared, h: How) -> u32 {
    let mut i = h.a;
    while s.x[i].load(h.order) == 0 {
        i = (i + 1) % 3;
        h.pause();
    }
    i as u32
}

fn round_robin_until_end(s: &Shared, h: How) -> u32 {
    let (mut i, mut seen) = (0, 0);
    loop {
        let value = s.x[i].load(h.order);
        seen |= u32::from(value != 0) << i;
        if value == END {
            return 10 * seen + i as u32;
        }
        i = (i + 1) % 3;
        h.pause();
    }
}

fn ticket(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mine = x.fetch_add(1, h.order_rmw).min(END);
    while y.load(h.order) < mine {
        h.pause();
    }
    mine
}

/// Pauses the longer, the more are before it.
fn ticket_proportional(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mine = x.fetch_add(1, h.order_rmw).min(3);
    loop {
        let now = y.load(h.order);
        if now >= mine {
            return 10 * mine + now;
        }
        for _ in 0..mine - now {
            h.pause();
        }
    }
}

fn cas_reloads(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = 0;
    loop {
        let old = x.load(h.order);
        if x.compare_exchange(old, old ^ 8, h.order_rmw, h.order).is_ok() {
            return 10 * old + tries;
        }
        tries = (tries + 1).min(2);
        h.pause();
    }
}

fn cas_returned(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut old = 0;
    while let Err(now) = x.compare_exchange(old, old + 8, h.order_rmw, h.order) {
        old = now;
        h.pause();
    }
    old
}

/// Waits for one value, by an update that fails as long.
fn cas_weak(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.compare_exchange_weak(END, 1, h.order_rmw, h.order).is_err() {
        h.pause();
    }
    y.load(h.order)
}

fn updates(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        if let Ok(old) = x.fetch_update(h.order_rmw, h.order, |value| (value != 0).then_some(value + 8)) {
            return old;
        }
        h.pause();
    }
}

fn adds_nothing(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.fetch_add(0, h.order_rmw) == 0 {
        h.pause();
    }
    y.load(h.order)
}

fn swap_lock(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        let before = x.swap(9, h.order_rmw);
        if before != 9 {
            return before;
        }
        h.pause();
    }
}

fn test_and_swap(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        while x.load(h.order) == 9 {
            h.pause();
        }
        let before = x.swap(9, h.order_rmw);
        if before != 9 {
            return before;
        }
    }
}

fn seqlock(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    loop {
        let before = x.load(h.order);
        if before % 2 == 0 {
            let data = y.load(h.order);
            if x.load(h.order) == before {
                return 10 * before + data;
            }
        }
        h.pause();
    }
}

fn polls_lock(s: &Shared, h: How) -> u32 {
    loop {
        let value = *s.m.lock().unwrap();
        if value != 0 {
            return value;
        }
        h.pause();
    }
}

fn polls_lock_and_flag(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        let guard = s.m.lock().unwrap();
        if x.load(h.order) != 0 {
            return *guard;
        }
        drop(guard);
        h.pause();
    }
}

fn tries_lock(s: &Shared, h: How) -> u32 {
    loop {
        if let Ok(guard) = s.m.try_lock()
            && *guard != 0
        {
            return *guard;
        }
        h.pause();
    }
}

fn tries_lock_counting(s: &Shared, h: How) -> u32 {
    let mut failed = 0;
    loop {
        match s.m.try_lock() {
            Ok(guard) if *guard != 0 => return 10 * failed + *guard,
            Ok(_) => {}
            Err(_) => failed = (failed + 1).min(2),
        }
        h.pause();
    }
}

/// Each look is counted where others see it.
fn counts_under_lock(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    loop {
        let mut guard = s.m.lock().unwrap();
        if x.load(h.order) != 0 || *guard >= h.n {
            return *guard;
        }
        *guard += 1;
        drop(guard);
        h.pause();
    }
}

fn maximum(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut max = 0;
    while x.load(h.order) != END {
        max = max.max(y.load(h.order));
        h.pause();
    }
    max
}

fn last_two(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let (mut before, mut last) = (0, 0);
    while last != END {
        before = last;
        last = x.load(h.order);
        h.pause();
    }
    before
}

fn last_two_changed(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let (mut before, mut last) = (0, 0);
    while last != END {
        let now = x.load(h.order);
        if now != last {
            (before, last) = (last, now);
        }
        h.pause();
    }
    before
}

fn mask_of_values(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut mask = 0_u32;
    loop {
        mask |= 1 << y.load(h.order).min(7);
        if x.load(h.order) != 0 {
            return mask;
        }
        h.pause();
    }
}
