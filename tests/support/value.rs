//! Values in the notation of the file tests.

use workbench::ir::{Const, Elem, POISON, ParamType, Scalar};

/// A parsed argument or expectation.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(String),
    List(Vec<String>),
    Iota(usize),
    Fill(usize, String),
    Poison(usize),
    Rand(usize, u64),
    /// The bytes of a struct: each member with its scalar type.
    Bytes(Vec<(Scalar, String)>),
    Null,
}

/// Parses a value; the error says what is wrong.
pub fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let items = inner.split(',').map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect();
        return Ok(Value::List(items));
    }
    if text == "null" {
        return Ok(Value::Null);
    }
    if let Some((name, rest)) = text.split_once('(') {
        let inner = rest.strip_suffix(')').ok_or_else(|| format!("missing `)` in `{text}`"))?;
        let args: Vec<&str> = inner.split(',').map(str::trim).collect();
        let count = || args[0].parse::<usize>().map_err(|_| format!("bad count in `{text}`"));
        return match (name.trim(), args.len()) {
            ("iota", 1) => Ok(Value::Iota(count()?)),
            ("fill", 2) => Ok(Value::Fill(count()?, args[1].to_owned())),
            ("poison", 1) => Ok(Value::Poison(count()?)),
            ("rand", 2) => Ok(Value::Rand(count()?, args[1].parse().map_err(|_| format!("bad seed in `{text}`"))?)),
            ("bytes", _) => args.iter().map(|a| member(a)).collect::<Result<_, _>>().map(Value::Bytes),
            _ => Err(format!("unknown value `{text}`")),
        };
    }
    Ok(Value::Number(text.to_owned()))
}

/// `f32 1.5`
fn member(text: &str) -> Result<(Scalar, String), String> {
    use Scalar::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let (ty, value) = text.split_once(' ').ok_or_else(|| format!("`{text}` is no `type value`"))?;
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    let scalar = all.into_iter().find(|s| s.name() == ty).ok_or_else(|| format!("unknown type `{ty}`"))?;
    Ok((scalar, value.trim().to_owned()))
}

/// A number as a constant of a scalar type.
pub fn number(scalar: Scalar, text: &str) -> Result<Const, String> {
    let bad = || format!("`{text}` is no {}", scalar.name());
    Ok(match scalar {
        Scalar::Bool => match text {
            "true" | "1" => Const::Bool(true),
            "false" | "0" => Const::Bool(false),
            _ => return Err(bad()),
        },
        Scalar::F32 => Const::F32(text.parse().map_err(|_| bad())?),
        Scalar::F64 => Const::F64(text.parse().map_err(|_| bad())?),
        _ => {
            let value: i128 = match text.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16).map_err(|_| bad())?,
                None => text.parse().map_err(|_| bad())?,
            };
            let bits = scalar.bits();
            let range = if scalar.is_signed() {
                -(1i128 << (bits - 1))..=(1i128 << (bits - 1)) - 1
            } else {
                0..=(1i128 << bits) - 1
            };
            if !range.contains(&value) {
                return Err(bad());
            }
            Const::Int(scalar, value as i64)
        }
    })
}

/// The bytes of a number as an element of memory.
pub fn element_bytes(elem: Elem, text: &str) -> Result<Vec<u8>, String> {
    if let Elem::Scalar(scalar) = elem {
        return Ok(number(scalar, text)?.bytes().to_vec());
    }
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no {}", elem.name()))?;
    Ok(elem.half_bits(value).map(|b| b.to_le_bytes().to_vec()).unwrap_or_default())
}

/// The memory of an array value whose elements are of a type.
pub fn memory(value: &Value, elem: Elem) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    match value {
        Value::List(items) => {
            for item in items {
                out.extend(element_bytes(elem, item)?);
            }
        }
        Value::Iota(n) => {
            for i in 0..*n {
                out.extend(element_bytes(elem, &i.to_string())?);
            }
        }
        Value::Fill(n, item) => {
            for _ in 0..*n {
                out.extend(element_bytes(elem, item)?);
            }
        }
        Value::Poison(n) => out.resize(n * elem.size() as usize, POISON),
        Value::Rand(n, seed) => {
            // SplitMix64 (Steele, Lea, Flood 2014), its top 24 bits as a number in [-1, 1).
            let mut state = *seed;
            for _ in 0..*n {
                state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                z ^= z >> 31;
                let unit = (z >> 40) as f64 / f64::from(1 << 23) - 1.0;
                out.extend(match elem {
                    Elem::Scalar(Scalar::F32) => Const::F32(unit as f32).bytes().to_vec(),
                    Elem::Scalar(Scalar::F64) => Const::F64(unit).bytes().to_vec(),
                    Elem::F16 | Elem::BF16 => element_bytes(elem, &unit.to_string())?,
                    Elem::Scalar(_) => return Err("rand() is for floats".to_owned()),
                });
            }
        }
        Value::Bytes(members) => {
            for (scalar, text) in members {
                out.extend(number(*scalar, text)?.bytes());
            }
        }
        Value::Number(_) | Value::Null => return Err(format!("an array is wanted, not {value:?}")),
    }
    Ok(out)
}

/// The element type that arrays of a parameter have.
pub fn element(ty: ParamType) -> Elem {
    match ty {
        ParamType::Scalar(s) => s.into(),
        ParamType::Ptr { elem, .. } => elem.unwrap_or(Scalar::U8.into()),
        ParamType::Bytes { .. } => Scalar::U8.into(),
    }
}

/// Elements of memory as text, for messages.
pub fn show(memory: &[u8], elem: Elem) -> Vec<String> {
    memory
        .chunks_exact(elem.size() as usize)
        .map(|c| {
            let mut wide = [0u8; 8];
            wide[..c.len()].copy_from_slice(c);
            let bits = u64::from_le_bytes(wide);
            if let Some(value) = elem.half_value(bits as u16) {
                return format!("{value:?}");
            }
            let scalar = elem.bits();
            match scalar {
                Scalar::Bool => (bits != 0).to_string(),
                Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
                Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
                _ if scalar.is_signed() => {
                    let shift = 64 - scalar.bits();
                    (((bits << shift) as i64) >> shift).to_string()
                }
                _ => bits.to_string(),
            }
        })
        .collect()
}

/// Elements of memory as doubles.
pub fn doubles(memory: &[u8], elem: Elem) -> Vec<f64> {
    show(memory, elem)
        .iter()
        .map(|t| match t.as_str() {
            "true" => 1.0,
            "false" => 0.0,
            t => t.parse().unwrap_or(f64::NAN),
        })
        .collect()
}
