//! Options of a compilation: how a text is compiled, and for what; and the options that a person gives by name.

use std::collections::BTreeMap;
use std::fmt;

use super::Error;
use super::program::Device;
use crate::back::cpu::Tier;
use crate::back::cuda::NvrtcOptions;
use crate::front;

/// The options of a compilation. Two that are equal make the same of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// The name of the text in messages; empty: `<kernel>`.
    pub name: String,
    /// Macros and headers.
    pub front: front::Options,
    /// The device to run on.
    pub device: Device,
    /// The options for NVRTC.
    pub nvrtc: NvrtcOptions,
    /// The machine code to make for the CPU.
    pub tier: Tier,
    /// True if host arrays say that they are on the CPU, whatever a host function was registered for.
    pub strict_device: bool,
    /// True if kernels that host code launches may touch the host's memory, as on machines whose GPUs reach it (heterogeneous memory
    /// management, or address translation in hardware). Otherwise that is a fault.
    pub unified_memory: bool,
}

/// The value that an option is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// `None`.
    Nothing,
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(String),
    /// Texts in order.
    Texts(Vec<String>),
    /// Pairs of texts in order.
    Pairs(Vec<(String, String)>),
    /// Texts by their names.
    Table(BTreeMap<String, String>),
    /// A value that no option takes, as messages show it.
    Other(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Nothing => f.write_str("None"),
            OptionValue::Flag(flag) => f.write_str(if *flag { "True" } else { "False" }),
            OptionValue::Text(text) => write!(f, "{text:?}"),
            OptionValue::Texts(texts) => write!(f, "{texts:?}"),
            OptionValue::Pairs(pairs) => write!(f, "{pairs:?}"),
            OptionValue::Table(table) => write!(f, "{table:?}"),
            OptionValue::Other(shown) => f.write_str(shown),
        }
    }
}

/// A type of an option.
trait Setting: Sized {
    /// The setting that a value means; the value itself where it is none of this type.
    fn read(value: OptionValue) -> Result<Self, OptionValue>;

    fn show(&self) -> OptionValue;
}

/// Implements the type of an option that is one kind of value.
macro_rules! setting {
    ($ty:ty, $kind:ident) => {
        impl Setting for $ty {
            fn read(value: OptionValue) -> Result<Self, OptionValue> {
                match value {
                    OptionValue::$kind(inner) => Ok(inner),
                    other => Err(other),
                }
            }

            fn show(&self) -> OptionValue {
                OptionValue::$kind(self.clone())
            }
        }
    };
}

setting!(bool, Flag);
setting!(String, Text);
setting!(Vec<String>, Texts);
setting!(BTreeMap<String, String>, Table);

impl Setting for Vec<(String, String)> {
    fn read(value: OptionValue) -> Result<Self, OptionValue> {
        match value {
            OptionValue::Pairs(pairs) => Ok(pairs),
            // An empty list counts as one of pairs, too.
            OptionValue::Texts(texts) if texts.is_empty() => Ok(Vec::new()),
            other => Err(other),
        }
    }

    fn show(&self) -> OptionValue {
        OptionValue::Pairs(self.clone())
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(value: OptionValue) -> Result<Self, OptionValue> {
        match value {
            OptionValue::Nothing => Ok(None),
            value => T::read(value).map(Some),
        }
    }

    fn show(&self) -> OptionValue {
        self.as_ref().map_or(OptionValue::Nothing, T::show)
    }
}

impl Setting for Device {
    fn read(value: OptionValue) -> Result<Self, OptionValue> {
        let device = if let OptionValue::Text(name) = &value { Device::from_name(name) } else { None };
        device.ok_or(value)
    }

    fn show(&self) -> OptionValue {
        OptionValue::Text(self.name().to_owned())
    }
}

/// An option that a person gives by name.
struct Row {
    name: &'static str,
    /// The values it takes, as messages say it.
    takes: &'static str,
    show: fn(&CompileOptions) -> OptionValue,
    /// Sets the option; gives back a value that it does not take.
    set: fn(&mut CompileOptions, OptionValue) -> Result<(), OptionValue>,
}

macro_rules! rows {
    ($($name:literal => $($member:ident).+, $takes:literal;)*) => {
        /// Every option, in the order in which they are shown.
        const ROWS: &[Row] = &[$(Row {
            name: $name,
            takes: $takes,
            show: |options| options.$($member).+.show(),
            set: |options, value| Setting::read(value).map(|setting| options.$($member).+ = setting),
        },)*];
    };
}

rows! {
    "device" => device, "\"cpu\" or \"cuda\"";
    "name" => name, "a str";
    "defines" => front.defines, "a list of pairs of str";
    "headers" => front.headers, "a dict of str";
    "options" => nvrtc.extra, "a list of str";
    "arch" => nvrtc.arch, "a str such as \"sm_90\", or None";
    "fmad" => front.fmad, "True, False or None";
    "strict_device" => strict_device, "True or False";
    "unified_memory" => unified_memory, "True or False";
    "units" => front.units, "True or False";
}

impl CompileOptions {
    /// Sets an option by its name.
    ///
    /// # Errors
    /// [`Error::Argument`] for a name that is none, with the nearest one, and for a value that the option does not take, with what it takes.
    pub fn set(&mut self, name: &str, value: OptionValue) -> Result<(), Error> {
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            let names = || ROWS.iter().map(|row| row.name);
            let near = front::nearest(name, names())
                .map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
            let all: Vec<&str> = names().collect();
            return Err(Error::Argument(format!("there is no option `{name}`{near} There are: {}", all.join(", "))));
        };
        let refused = |value| {
            let takes = match &value {
                OptionValue::Text(device) if row.name == "device" => Device::wanted(device),
                _ => row.takes,
            };
            Error::Argument(format!("{name} is {value}; it must be {takes}"))
        };
        (row.set)(self, value).map_err(refused)
    }

    /// Every option by its name.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, OptionValue)> + '_ {
        ROWS.iter().map(|row| (row.name, (row.show)(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: OptionValue) -> String {
        match CompileOptions::default().set(name, value) {
            Err(Error::Argument(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_that_are_set_by_name_are_those_that_are_read_by_name() {
        let mut options = CompileOptions {
            name: "t.cu".to_owned(),
            front: front::Options {
                defines: vec![("N".to_owned(), "4".to_owned())],
                headers: BTreeMap::from([("h.h".to_owned(), "int n;".to_owned())]),
                units: true,
                fmad: Some(false),
                ..front::Options::default()
            },
            device: Device::Cuda,
            nvrtc: NvrtcOptions { arch: Some("sm_90".to_owned()), extra: vec!["--use_fast_math".to_owned()] },
            tier: Tier::default(),
            strict_device: true,
            unified_memory: true,
        };
        let set = |options: &CompileOptions| {
            let mut made = CompileOptions::default();
            for (name, value) in options.by_name() {
                made.set(name, value).expect(name);
            }
            made
        };
        assert_eq!(set(&options), options);
        options.nvrtc = NvrtcOptions::default();
        assert_eq!(set(&options), options);
        assert_eq!(set(&CompileOptions::default()), CompileOptions::default());
    }

    #[test]
    fn the_first_gpu_has_two_names() {
        for name in ["cuda", "cuda:0"] {
            let mut options = CompileOptions::default();
            options.set("device", OptionValue::Text(name.to_owned())).expect(name);
            assert_eq!(options.device, Device::Cuda);
        }
    }

    #[test]
    fn an_unknown_option_is_named_with_the_nearest_one() {
        let all =
            "There are: device, name, defines, headers, options, arch, fmad, strict_device, unified_memory, units";
        let text = refused("strict_devise", OptionValue::Flag(true));
        assert_eq!(text, format!("there is no option `strict_devise`; did you mean `strict_device`? {all}"));
        assert_eq!(refused("colour", OptionValue::Nothing), format!("there is no option `colour`. {all}"));
    }

    #[test]
    fn a_value_that_does_not_fit_is_shown_with_what_does() {
        let text = |text: &str| OptionValue::Text(text.to_owned());
        assert_eq!(refused("device", text("tpu")), "device is \"tpu\"; it must be \"cpu\" or \"cuda\"");
        assert!(
            refused("device", text("cuda:1"))
                .starts_with("device is \"cuda:1\"; it must be \"cpu\", \"cuda\" or \"cuda:0\": ")
        );
        assert_eq!(refused("unified_memory", text("yes")), "unified_memory is \"yes\"; it must be True or False");
        assert_eq!(
            refused("arch", OptionValue::Flag(true)),
            "arch is True; it must be a str such as \"sm_90\", or None"
        );
        assert_eq!(refused("name", OptionValue::Other("7".to_owned())), "name is 7; it must be a str");
    }
}
