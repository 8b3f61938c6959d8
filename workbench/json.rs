//! JSON of reports, by its standard (RFC 8259) and without loss. Numbers that are not finite have no form in JSON: they are the texts `"NaN"`,
//! `"Infinity"` and `"-Infinity"`. Integers stand there digit by digit, whatever a double holds. What is missing is `null`.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The JSON of a value, with line ends and indents.
///
/// # Errors
/// The errors of `serde_json`: keys that are no texts, and those of the value itself.
pub fn text(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Whole(value))
}

/// A value that is written by [`Strict`].
struct Whole<'v, T: ?Sized>(&'v T);

impl<T: Serialize + ?Sized> Serialize for Whole<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Strict(serializer))
    }
}

/// A serializer that writes what is not finite as text, at any depth, and leaves the rest to another one.
struct Strict<S>(S);

/// Methods that hand a value on as it is.
macro_rules! as_it_is {
    ($($name:ident($type:ty))*) => {
        $(fn $name(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$name(value)
        })*
    };
}

/// The text of a number that is not finite.
fn odd(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

impl<S: Serializer> Serializer for Strict<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Strict<S::SerializeSeq>;
    type SerializeTuple = Strict<S::SerializeTuple>;
    type SerializeTupleStruct = Strict<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Strict<S::SerializeTupleVariant>;
    type SerializeMap = Strict<S::SerializeMap>;
    type SerializeStruct = Strict<S::SerializeStruct>;
    type SerializeStructVariant = Strict<S::SerializeStructVariant>;

    as_it_is! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_unit_struct(&'static str)
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.0.serialize_f32(value) } else { self.0.serialize_str(odd(value.into())) }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.0.serialize_f64(value) } else { self.0.serialize_str(odd(value)) }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Whole(value))
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Whole(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Whole(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Strict)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Strict)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Strict)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, len).map(Strict)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(Strict)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(Strict)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, len).map(Strict)
    }
}

/// The parts of a value without names.
macro_rules! parts {
    ($($of:ident $method:ident)*) => {
        $(impl<S: $of> $of for Strict<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&Whole(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

/// The fields of a structure.
macro_rules! fields {
    ($($of:ident)*) => {
        $(impl<S: $of> $of for Strict<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), S::Error> {
                self.0.serialize_field(key, &Whole(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

parts! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

fields! { SerializeStruct SerializeStructVariant }

impl<S: SerializeMap> SerializeMap for Strict<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Whole(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    /// Every form that a value has in a report, each with numbers that JSON lacks.
    #[derive(Serialize)]
    struct All {
        number: f64,
        narrow: f32,
        missing: Option<f64>,
        given: Option<f64>,
        several: Vec<f64>,
        pair: (usize, f64),
        by_name: BTreeMap<&'static str, f64>,
        wrapped: Wrapped,
        kinds: Vec<Kind>,
        large: u64,
        larger: i128,
    }

    #[derive(Serialize)]
    struct Wrapped(f64);

    #[derive(Serialize)]
    enum Kind {
        Plain,
        One(f64),
        Two(f64, f64),
        Named { value: f64 },
    }

    #[test]
    fn what_is_not_finite_is_text_at_any_depth() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let all = All {
            number: nan,
            narrow: f32::NEG_INFINITY,
            missing: None,
            given: Some(-inf),
            several: vec![1.5, inf],
            pair: (7, nan),
            by_name: [("a", inf)].into(),
            wrapped: Wrapped(nan),
            kinds: vec![Kind::Plain, Kind::One(inf), Kind::Two(0.1, nan), Kind::Named { value: -inf }],
            large: u64::MAX,
            larger: i128::from(u64::MAX) + 1,
        };
        let text = super::text(&all).expect("JSON");
        let flat: String = text.split_whitespace().collect();
        let wanted = r#"{"number":"NaN","narrow":"-Infinity","missing":null,"given":"-Infinity","several":[1.5,"Infinity"],"pair":[7,"NaN"],
            "by_name":{"a":"Infinity"},"wrapped":"NaN","kinds":["Plain",{"One":"Infinity"},{"Two":[0.1,"NaN"]},{"Named":{"value":"-Infinity"}}],
            "large":18446744073709551615,"larger":18446744073709551616}"#;
        assert_eq!(flat, wanted.split_whitespace().collect::<String>());
    }
}
