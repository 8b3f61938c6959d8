//! The log that a kernel writes: printf records and the lowest fault, in host memory that outlives a broken context.
//!
//! `prelude.cuh` writes the layout that this file reads.

use crate::back::PrintfRecord;
use crate::back::printf::{MAX_BYTES, MAX_RECORDS, PrintfArg, format_record, sort_records};
use crate::ir::printf_format::{self, Piece};

/// Size of the header before the records.
pub(super) const HEADER: usize = 1024;
/// Bytes of records that one launch may write; records beyond are counted.
pub(super) const CAPACITY: usize = 16 << 20;

const MAGIC: u32 = 0x5742_5052;
const HEAD: usize = 48;
const ARG: usize = 16;

/// The fault kinds that the prelude reports itself.
pub(super) const ASSERT: u32 = 1;

/// A fault that a thread reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reported {
    /// [`ASSERT`], or 2 for `__trap()`.
    pub kind: u32,
    pub file: String,
    pub line: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// The condition of an assert.
    pub text: String,
}

/// The contents of a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub output: Vec<PrintfRecord>,
    pub dropped: u64,
    pub fault: Option<Reported>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn triple(bytes: &[u8], at: usize) -> [u32; 3] {
    [u32_at(bytes, at), u32_at(bytes, at + 4), u32_at(bytes, at + 8)]
}

/// The text up to the first NUL.
fn text_at(bytes: &[u8], at: usize, room: usize) -> String {
    let text = bytes.get(at..at + room).unwrap_or(&[]);
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// The header with which a launch starts.
pub(super) fn fresh_header(capacity: usize) -> [u8; HEADER] {
    let mut header = [0u8; HEADER];
    header[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    header[28..32].copy_from_slice(&u32::try_from(capacity).unwrap_or(u32::MAX).to_le_bytes());
    header
}

/// The number of bytes of records that a header says were reserved.
pub(super) fn used(header: &[u8], capacity: usize) -> usize {
    usize::try_from(u64_at(header, 0)).unwrap_or(capacity).min(capacity)
}

/// Reads a log: header and the records after it. Records come in (block, thread, time) order.
pub(super) fn decode(header: &[u8], records: &[u8]) -> Log {
    let fault = (u64_at(header, 16) != u64::MAX).then(|| Reported {
        kind: u32_at(header, 32),
        line: u32_at(header, 36),
        block: triple(header, 40),
        thread: triple(header, 52),
        file: text_at(header, 96, 416),
        text: text_at(header, 512, 512),
    });
    let mut found = Vec::new();
    let mut at = 0;
    while at + HEAD <= records.len() {
        let size = u32_at(records, at + 4) as usize;
        let whole =
            u32_at(records, at) == MAGIC && size >= HEAD && size.is_multiple_of(8) && at + size <= records.len();
        if !whole {
            // This record was cut off by a fault: the next whole one is some words further on.
            at += 8;
            continue;
        }
        // The records of a thread are in order of time, so the place stands for the time.
        found.push((at as u64, record(&records[at..at + size])));
        at += size;
    }
    let cut = cut(&mut found);
    Log { output: sort_records(found), dropped: u64_at(header, 8) + cut, fault }
}

/// Cuts records at the limits of a launch, to a prefix of (block, time) order as on the CPU; gives the number cut.
fn cut(found: &mut Vec<(u64, PrintfRecord)>) -> u64 {
    let total = found.len();
    found.sort_by_key(|(at, record)| {
        let [x, y, z] = record.block;
        (z, y, x, *at)
    });
    let mut bytes = 0;
    let mut fits = |(_, record): &(u64, PrintfRecord)| {
        bytes += record.text.len();
        bytes <= MAX_BYTES
    };
    let kept = found.iter().take(MAX_RECORDS).take_while(|record| fits(record)).count();
    found.truncate(kept);
    (total - kept) as u64
}

fn record(bytes: &[u8]) -> PrintfRecord {
    let count = u32_at(bytes, 32) as usize;
    let length = u32_at(bytes, 36) as usize;
    let padded = |n: usize| n.saturating_add(7) & !7;
    let bytes_at = |at: usize, n: usize| bytes.get(at..at.saturating_add(n)).unwrap_or(&[]);
    let format = String::from_utf8_lossy(bytes_at(HEAD, length)).into_owned();
    let mut args = Vec::new();
    let mut at = HEAD + padded(length);
    while args.len() < count && at + ARG <= bytes.len() {
        let (tag, size, bits) = (u32_at(bytes, at), u32_at(bytes, at + 4) as usize, u64_at(bytes, at + 8));
        at += ARG;
        args.push(match tag {
            1 => PrintfArg::Int(bits as i64),
            2 => PrintfArg::UInt(bits),
            3 => PrintfArg::Double(f64::from_bits(bits)),
            4 => PrintfArg::Str(String::from_utf8_lossy(bytes_at(at, size)).into_owned()),
            6 => PrintfArg::Str("(null)".to_owned()),
            _ => PrintfArg::Pointer(bits),
        });
        at = at.saturating_add(padded(size));
    }
    // The format was not known when compiling; an invalid one is shown as it stands.
    let pieces = printf_format::parse(&format).unwrap_or_else(|_| vec![Piece::Text(format.clone())]);
    let text = format_record(&pieces, &args);
    PrintfRecord { block: triple(bytes, 8), thread: triple(bytes, 20), text, kernel: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(text: &[u8]) -> Vec<u8> {
        let mut out = text.to_vec();
        out.resize(text.len().div_ceil(8) * 8, 0);
        out
    }

    fn arg(tag: u32, size: u32, bits: u64) -> Vec<u8> {
        [&tag.to_le_bytes()[..], &size.to_le_bytes(), &bits.to_le_bytes()].concat()
    }

    fn record(block: u32, thread: u32, format: &str, args: &[Vec<u8>]) -> Vec<u8> {
        let body: Vec<u8> = padded(format.as_bytes()).into_iter().chain(args.concat()).collect();
        let words = [
            MAGIC,
            (HEAD + body.len()) as u32,
            block,
            0,
            0,
            thread,
            0,
            0,
            args.len() as u32,
            format.len() as u32,
            0,
            0,
        ];
        words.iter().flat_map(|w| w.to_le_bytes()).chain(body).collect()
    }

    #[test]
    fn records_come_in_thread_order_with_their_arguments() {
        let string = |s: &str| [arg(4, s.len() as u32, 0x10), padded(s.as_bytes())].concat();
        let mut bytes = record(1, 0, "later %d\n", &[arg(1, 0, -3i64 as u64)]);
        bytes.extend(record(
            0,
            2,
            "%s=%.2f %p|%s",
            &[string("π is"), arg(3, 0, 2.625f64.to_bits()), arg(5, 0, 0xff), arg(6, 0, 0)],
        ));
        // One record that a fault cut off, then a whole one.
        let mut cut = record(0, 0, "never", &[]);
        cut[..4].fill(0);
        bytes.extend(cut);
        bytes.extend(record(0, 1, "%u", &[arg(2, 0, 7)]));
        let mut header = fresh_header(CAPACITY);
        header[8] = 5;
        let log = decode(&header, &bytes);
        let seen: Vec<(u32, u32, &str)> =
            log.output.iter().map(|r| (r.block[0], r.thread[0], r.text.as_str())).collect();
        assert_eq!(seen, [(0, 1, "7"), (0, 2, "π is=2.62 0xff|(null)"), (1, 0, "later -3\n")]);
        assert_eq!(log.dropped, 5);
        assert!(log.fault.is_none());
    }

    #[test]
    fn more_than_the_bound_is_cut_and_counted() {
        let (one, other) = (record(1, 0, "1", &[]), record(0, 3, "0", &[]));
        let bytes: Vec<u8> = (0..MAX_RECORDS).flat_map(|i| if i % 10 == 0 { &other } else { &one }).copied().collect();
        let log = decode(&fresh_header(CAPACITY), &[bytes, other.repeat(7)].concat());
        assert_eq!((log.output.len(), log.dropped), (MAX_RECORDS, 7));
        // The first block's records are kept whole.
        assert_eq!(log.output.iter().filter(|r| r.block[0] == 0).count(), MAX_RECORDS / 10 + 7);
    }

    #[test]
    fn a_reported_fault_is_read_from_the_header() {
        let mut header = fresh_header(CAPACITY);
        header[16..24].copy_from_slice(&1027u64.to_le_bytes());
        for (at, word) in [(32, ASSERT), (36, 12), (40, 1), (52, 3)] {
            header[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        header[96..100].copy_from_slice(b"cell");
        header[512..517].copy_from_slice(b"i < n");
        let fault = decode(&header, &[]).fault.unwrap();
        let expected = Reported {
            kind: ASSERT,
            file: "cell".into(),
            line: 12,
            block: [1, 0, 0],
            thread: [3, 0, 0],
            text: "i < n".into(),
        };
        assert_eq!(fault, expected);
    }

    #[test]
    fn bytes_that_are_no_log_are_read_without_harm() {
        for seed in 0..200u32 {
            let mut state = seed;
            let mut bytes: Vec<u8> = (0..256)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
            bytes[4..8].copy_from_slice(&256u32.to_le_bytes());
            decode(&bytes, &bytes);
        }
    }
}
