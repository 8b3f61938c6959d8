//! Numbers for people: SI prefixes, three significant digits, the same in tables, pictures and verdicts.

/// The text in place of a missing number.
pub const MISSING: &str = "–";

const LARGE: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];

/// `value` with three significant digits and no exponent, for `0.1 <= value < 1000`.
fn three_digits(value: f64) -> String {
    // The rounded value decides: 9.996 becomes 10.0, not 10.00.
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A duration in seconds, such as `1.23 µs`; picoseconds to seconds.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value == 0.0 {
        return "0 s".to_owned();
    }
    let (sign, value) = if value < 0.0 { ("-", -value) } else { ("", value) };
    let (scale, unit) = match value {
        v if v < 0.9995e-9 => (1e12, "ps"),
        v if v < 0.9995e-6 => (1e9, "ns"),
        v if v < 0.9995e-3 => (1e6, "µs"),
        v if v < 0.9995 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{sign}{} {unit}", three_digits(value * scale))
}

/// A round duration at a tick of an axis, such as `10 µs`.
pub fn tick_seconds(value: f64) -> String {
    without_zeros(&seconds(value))
}

/// A round rate at a tick of an axis, such as `20 GB/s`.
pub fn tick_rate(bytes_per_second: f64) -> String {
    if bytes_per_second == 0.0 { "0".to_owned() } else { without_zeros(&rate(bytes_per_second)) }
}

/// `1.50 µs` as `1.5 µs`.
fn without_zeros(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", trim_zeros(number.to_owned())),
        None => text.to_owned(),
    }
}

/// A range of durations with one unit, such as `1.21–1.26 µs`; the unit is the upper end's.
pub fn seconds_range(low: f64, high: f64) -> String {
    let (low_text, high_text) = (seconds(low), seconds(high));
    match (low_text.split_once(' '), high_text.split_once(' ')) {
        (Some((number, a)), Some((_, b))) if a == b => format!("{number}–{high_text}"),
        _ => format!("{low_text}–{high_text}"),
    }
}

/// An exact count, short where it is round: `4 Ki`, `16 Mi`, `10 k`, `2 M`, else all digits.
pub fn count(value: u64) -> String {
    const BINARY: [(u64, &str); 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    const DECIMAL: [(u64, &str); 4] = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    // 1024000 is both: decimal wins only where it takes fewer digits.
    let round = |table: &[(u64, &str)]| {
        table
            .iter()
            .find(|(unit, _)| value >= *unit && value.is_multiple_of(*unit))
            .map(|(unit, p)| format!("{} {p}", value / unit))
    };
    let short = [round(&DECIMAL), round(&BINARY)].into_iter().flatten().min_by_key(String::len);
    short.unwrap_or_else(|| value.to_string())
}

/// A rough count of at most three digits and a prefix, such as `1.05 M`.
pub fn rough_count(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value < 999.5 {
        return format!("{value:.0}");
    }
    without_zeros(scaled(value, "").trim_end())
}

/// Bytes per second, such as `12.3 GB/s`.
pub fn rate(bytes_per_second: f64) -> String {
    if !bytes_per_second.is_finite() || bytes_per_second <= 0.0 {
        return MISSING.to_owned();
    }
    scaled(bytes_per_second, "B/s")
}

/// Operations on floats per second, such as `12.3 GFLOP/s`.
pub fn flop_rate(flops_per_second: f64) -> String {
    if !flops_per_second.is_finite() || flops_per_second <= 0.0 {
        return MISSING.to_owned();
    }
    scaled(flops_per_second, "FLOP/s")
}

/// A round rate at a tick of an axis, such as `20 GFLOP/s`.
pub fn tick_flop_rate(flops_per_second: f64) -> String {
    if flops_per_second == 0.0 { "0".to_owned() } else { without_zeros(&flop_rate(flops_per_second)) }
}

/// A ratio, such as `2.5x`.
pub fn tick_ratio(value: f64) -> String {
    format!("{}x", number(value))
}

fn scaled(value: f64, unit: &str) -> String {
    let (scale, prefix) = LARGE.into_iter().find(|(scale, _)| value >= scale * 0.9995).unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", three_digits(value / scale))
}

/// A size of memory, such as `35.8 MiB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1023.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if scaled.fract() == 0.0 {
        format!("{scaled} {}", UNITS[unit])
    } else {
        format!("{} {}", three_digits(scaled), UNITS[unit])
    }
}

/// A number with all its digits: those of a float32 where it is one, with an exponent where it is very large or small.
pub fn exact(value: f64) -> String {
    let narrow = value as f32;
    let (plain, short) = match f64::from(narrow) == value {
        true => (format!("{narrow}"), format!("{narrow:e}")),
        false => (format!("{value}"), format!("{value:e}")),
    };
    if value.is_nan() {
        "nan".to_owned()
    } else if plain.len() <= 17 {
        plain
    } else {
        short
    }
}

/// A plain number with up to three significant digits: `0`, `1`, `0.25`, `1.2e-7`, `inf`, `nan`.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if (1e-3..99_999.5).contains(&magnitude) {
        let digits = (2 - magnitude.log10().floor() as i32).max(0) as usize;
        return trim_zeros(format!("{value:.digits$}"));
    }
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trim_zeros(mantissa.to_owned())),
        None => text,
    }
}

fn trim_zeros(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let table = [
            (0.0, "0 s"),
            (3.2e-12, "3.20 ps"),
            (1e-9, "1.00 ns"),
            (1.234e-6, "1.23 µs"),
            (9.999e-6, "10.0 µs"),
            (99.96e-6, "100 µs"),
            (999.4e-6, "999 µs"),
            (999.6e-6, "1.00 ms"),
            (0.25, "250 ms"),
            (1.0, "1.00 s"),
            (1234.0, "1234 s"),
            (-2e-3, "-2.00 ms"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (value, text) in table {
            assert_eq!(seconds(value), text, "{value:e}");
        }
    }

    #[test]
    fn ranges_share_a_unit_where_they_can() {
        assert_eq!(seconds_range(1.21e-6, 1.26e-6), "1.21–1.26 µs");
        assert_eq!(seconds_range(990e-9, 1.2e-6), "990 ns–1.20 µs");
        assert_eq!(seconds_range(f64::NAN, 1.0), "––1.00 s");
    }

    #[test]
    fn counts() {
        let table = [
            (0, "0"),
            (7, "7"),
            (1000, "1 k"),
            (1024, "1 Ki"),
            (1025, "1025"),
            (1536, "1536"),
            (65_536, "64 Ki"),
            (1 << 24, "16 Mi"),
            (2_000_000, "2 M"),
            (1_024_000, "1024 k"),
            (u64::MAX, "18446744073709551615"),
        ];
        for (value, text) in table {
            assert_eq!(count(value), text, "{value}");
        }
    }

    #[test]
    fn rates_sizes_and_numbers() {
        assert_eq!(rate(12.34e9), "12.3 GB/s");
        assert_eq!(rate(999.9e6), "1.00 GB/s");
        assert_eq!(rate(f64::NAN), "–");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(32 * 1024), "32 KiB");
        assert_eq!(bytes(37_539_840), "35.8 MiB");
        assert_eq!(rough_count(12.0), "12");
        assert_eq!(rough_count(14_000.0), "14 k");
        assert_eq!(rough_count(1_048_576.0), "1.05 M");
        let table =
            [(0.25, "0.25"), (1.0, "1"), (1.2345e-7, "1.23e-7"), (123456.0, "1.23e5"), (42.0, "42"), (-0.5, "-0.5")];
        for (value, text) in table {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::NEG_INFINITY), "-inf");
    }
}
