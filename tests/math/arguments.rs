//! The arguments and results of `reference.bin`; `reference.py` makes the same arguments and describes the format.

/// Correctly rounded results of one function.
pub struct Record {
    /// The function.
    pub name: String,
    /// All argument lists, one after the other.
    pub arguments: Vec<f64>,
    /// The result for each argument list.
    pub results: Vec<f64>,
}

struct Stream(u64);

impl Stream {
    fn new(name: &str) -> Self {
        Stream(name.bytes().fold(0xCBF2_9CE4_8422_2325, |s, c| (s ^ u64::from(c)).wrapping_mul(0x100_0000_01B3)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 12
    }
}

fn arguments(name: &str, arity: usize) -> Vec<f64> {
    let mut s = Stream::new(name);
    let offset = (s.next() % 8) as i64;
    let mut out = Vec::new();
    if arity == 1 {
        for e in -1022..1024i64 {
            let n = match e {
                -4..=6 => 24,
                -30..=10 => 2,
                _ => i32::from(e.rem_euclid(8) == offset),
            };
            for sign in 0..2 {
                for _ in 0..n {
                    out.push(f64::from_bits(sign << 63 | ((e + 1023) as u64) << 52 | s.next()));
                }
            }
        }
        for sign in 0..2 {
            for _ in 0..4 {
                out.push(f64::from_bits(sign << 63 | s.next()));
            }
        }
    } else {
        for i in 0..1000 * arity {
            let wide = (i / arity).is_multiple_of(4);
            let e = if wide { 1 + s.next() % 2046 } else { 1015 + s.next() % 17 };
            let sign = s.next() % 2;
            out.push(f64::from_bits(sign << 63 | e << 52 | s.next()));
        }
    }
    out
}

/// Every function's record; `arity` gives the number of its arguments.
pub fn records(arity: impl Fn(&str) -> usize) -> Vec<Record> {
    let mut data: &[u8] = include_bytes!("reference.bin");
    let mut out = Vec::new();
    while let Some((&length, rest)) = data.split_first() {
        let (name, rest) = rest.split_at(length.into());
        let (count, rest) = rest.split_at(4);
        let count = u32::from_le_bytes(count.try_into().unwrap()) as usize;
        let (results, rest) = rest.split_at(8 * count);
        let name = String::from_utf8(name.to_vec()).unwrap();
        let arguments = arguments(&name, arity(&name));
        assert_eq!(arguments.len(), count * arity(&name), "{name}: reference.py and arguments.rs differ");
        let results = results.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        out.push(Record { name, arguments, results });
        data = rest;
    }
    out
}
