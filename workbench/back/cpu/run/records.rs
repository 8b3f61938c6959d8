//! Records of what threads print: each worker keeps its own, in the order they come: by block, because blocks are claimed in
//! ascending order, and within a block by time. Both bounds keep a prefix of that order, so that the records kept do not
//! depend on which worker ran which block. They are shown by (block, thread, time).

use crate::back::PrintfRecord;
use crate::back::printf::{MAX_BYTES, MAX_RECORDS};

/// A worker's records, each with its block's linear index.
#[derive(Default)]
pub struct Output {
    records: Vec<(u64, PrintfRecord)>,
    bytes: usize,
    dropped: u64,
}

impl Output {
    /// True if the bounds are reached; once they are, they stay so.
    pub fn is_full(&self) -> bool {
        self.dropped > 0 || self.records.len() >= MAX_RECORDS
    }

    pub fn push(&mut self, block: u64, record: PrintfRecord) {
        if self.is_full() || self.bytes + record.text.len() > MAX_BYTES {
            self.dropped += 1;
        } else {
            self.bytes += record.text.len();
            self.records.push((block, record));
        }
    }

    /// Counts a record that is not kept.
    pub fn drop_one(&mut self) {
        self.dropped += 1;
    }

    /// Records of a kernel that host code launched, in their order.
    pub fn append(&mut self, records: Vec<PrintfRecord>, dropped: u64) {
        records.into_iter().for_each(|record| self.push(0, record));
        self.dropped += dropped;
    }

    /// The records, and the number that were dropped.
    pub fn take(&mut self) -> (Vec<(u64, PrintfRecord)>, u64) {
        (std::mem::take(&mut self.records), std::mem::take(&mut self.dropped))
    }
}

/// Puts the records of all workers in order, without those of blocks past `last`; with the number that the bounds cut
/// off.
pub fn merge(mut records: Vec<(u64, PrintfRecord)>, last: u64) -> (Vec<PrintfRecord>, u64) {
    records.retain(|(block, _)| *block <= last);
    // The sort is stable: a thread's records come from one worker, already in order.
    records.sort_by_key(|(block, record)| {
        let [x, y, z] = record.thread;
        (*block, z, y, x)
    });
    let mut bytes = 0;
    let mut fits = |(_, record): &(u64, PrintfRecord)| {
        bytes += record.text.len();
        bytes <= MAX_BYTES
    };
    let kept = records.iter().take(MAX_RECORDS).take_while(|r| fits(r)).count();
    let cut = (records.len() - kept) as u64;
    records.truncate(kept);
    (records.into_iter().map(|(_, record)| record).collect(), cut)
}
