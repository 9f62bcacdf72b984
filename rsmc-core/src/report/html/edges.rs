//! Edges of a drawing. They run beside the lanes and along rows, where no words are.
//!
//! A row has one node, and words right of it only. So an edge reaches a read from the left along its row, from a
//! channel at the lane of the write. If the lane of the read is left of that of the write, the edge runs along the row
//! of the write to a channel at the lane of the read, and comes from above. Edges of one write share their channel.
//! Flushes have channels left of the lanes.

use std::collections::HashMap;
use std::fmt::Write;

use crate::report::html::layout::Layout;

/// The distances of the channels from their lane.
const CHANNELS: [f64; 4] = [16.0, 20.0, 24.0, 28.0];
const FLUSHES: [f64; 3] = [8.0, 11.0, 14.0];
/// The distance below the middle of its row at which an edge leaves a write, and above it at which it reaches a read.
const SHIFT: f64 = 2.5;
/// The radius of a node.
const NODE: f64 = 6.0;

/// The edges drawn so far.
pub(super) struct Edges<'a> {
    layout: &'a Layout,
    text: String,
    /// By lane and channel: the row up to which it is in use.
    right: HashMap<(usize, usize), usize>,
    left: HashMap<(usize, usize), usize>,
    /// By write and lane: the channel of its edges.
    shared: HashMap<(usize, usize), usize>,
}

impl<'a> Edges<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        let (right, left, shared) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { layout, text: String::new(), right, left, shared }
    }

    /// Adds an edge from a write to a read; numbers, rows and lanes give both.
    pub(super) fn right(
        &mut self,
        class: &str,
        steps: (usize, usize),
        item: usize,
        rows: (usize, usize),
        lanes: (usize, usize),
    ) {
        let (from, to) = (self.layout.lanes[lanes.0], self.layout.lanes[lanes.1]);
        let (y1, y2) = (self.layout.y(rows.0) + SHIFT, self.layout.y(rows.1) - SHIFT);
        let beside = if lanes.1 < lanes.0 { lanes.1 } else { lanes.0 };
        let channel = self.layout.lanes[beside] + CHANNELS[self.channel(steps.0, beside, rows)];
        let first = if lanes.1 < lanes.0 {
            format!("M{:.1} {y1:.1}", from - NODE)
        } else {
            format!("M{:.1} {y1:.1}", from + NODE - 1.0)
        };
        let last = if lanes.1 > lanes.0 { to - NODE } else { to + NODE };
        let (into, out) = (sign(channel - from), sign(last - channel));
        let way = format!(
            "{first}H{:.1}Q{channel:.1} {y1:.1} {channel:.1} {:.1}V{:.1}Q{channel:.1} {y2:.1} {:.1} {y2:.1}H{last:.1}",
            channel - 4.0 * into,
            y1 + 4.0,
            y2 - 4.0,
            channel + 4.0 * out
        );
        self.add(class, "rf-head", steps, item, &way);
    }

    /// Adds an edge from a buffered store to the row in which it becomes visible, in the lane of its thread.
    pub(super) fn left(&mut self, steps: (usize, usize), item: usize, rows: (usize, usize), lane: usize) {
        let x = self.layout.lanes[lane];
        let (y1, y2) = (self.layout.y(rows.0) + SHIFT, self.layout.y(rows.1));
        let free =
            (0..FLUSHES.len()).find(|channel| self.left.get(&(lane, *channel)).is_none_or(|until| *until <= rows.0));
        let which = free.unwrap_or(FLUSHES.len() - 1);
        self.left.insert((lane, which), rows.1);
        let channel = x - FLUSHES[which];
        let way = format!(
            "M{0:.1} {y1:.1}Q{channel:.1} {y1:.1} {channel:.1} {1:.1}V{2:.1}Q{channel:.1} {y2:.1} {0:.1} {y2:.1}",
            x - NODE,
            y1 + 4.0,
            y2 - 4.0
        );
        self.add("flushes", "flush-head", steps, item, &way);
    }

    pub(super) fn text(self) -> String {
        self.text
    }

    /// The channel of the edges of a write: one that is free between these rows, or the last.
    fn channel(&mut self, write: usize, lane: usize, rows: (usize, usize)) -> usize {
        let free = || (0..CHANNELS.len()).find(|at| self.right.get(&(lane, *at)).is_none_or(|until| *until <= rows.0));
        let known = self.shared.get(&(write, lane)).copied();
        let which = known.or_else(free).unwrap_or(CHANNELS.len() - 1);
        self.shared.insert((write, lane), which);
        let until = self.right.entry((lane, which)).or_default();
        *until = rows.1.max(*until);
        which
    }

    fn add(&mut self, class: &str, head: &str, (from, to): (usize, usize), item: usize, way: &str) {
        let _ = writeln!(
            self.text,
            "<path class=\"edge {class}\" data-from=\"{from}\" data-to=\"{to}\" data-item=\"{item}\" \
             marker-end=\"url(#{head})\" d=\"{way}\"/>"
        );
    }
}

fn sign(number: f64) -> f64 {
    if number < 0.0 { -1.0 } else { 1.0 }
}
