//! The machine that numbers were measured on.

use std::fmt;
use std::fs;
use std::sync::OnceLock;

use serde::Serialize;

use super::units;

/// The machine, as far as the system describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's own name; empty where the system does not say.
    pub cpu: String,
    /// The number of threads that this process may run at once.
    pub cores: usize,
    /// Bytes of the last-level cache; `None` where the system does not say.
    pub last_level_cache: Option<u64>,
    /// Operating system and architecture, such as `linux x86_64`.
    pub platform: String,
    /// True if Workbench itself was built without optimisation, which makes every number of it meaningless.
    pub debug_build: bool,
}

impl Machine {
    /// This machine.
    pub fn this() -> &'static Machine {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        MACHINE.get_or_init(|| Machine {
            cpu: cpu_name().unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            last_level_cache: last_level_cache(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            debug_build: cfg!(debug_assertions),
        })
    }

    /// Processor and core count, for a caption.
    pub fn short(&self) -> String {
        let cpu = if self.cpu.is_empty() { "unnamed processor" } else { &self.cpu };
        format!("{cpu}, {} core{}", self.cores, if self.cores == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())?;
        if let Some(cache) = self.last_level_cache {
            write!(f, ", last-level cache {}", units::bytes(cache))?;
        }
        write!(f, ", {}", self.platform)?;
        if self.debug_build {
            f.write_str(", debug build of Workbench")?;
        }
        Ok(())
    }
}

/// The name in `/proc/cpuinfo` on Linux; elsewhere there is no file to read.
fn cpu_name() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name") || l.starts_with("Model"))?;
    let name = line.split_once(':')?.1;
    Some(name.replace("(R)", "").replace("(TM)", "").split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The largest cache of the first core, by `/sys` (Linux kernel documentation, `sysfs-devices-system-cpu`).
fn last_level_cache() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.ok()?.path().join("size")).ok()?;
            let text = text.trim();
            let (digits, unit) = match text.as_bytes().last()? {
                b'K' => (&text[..text.len() - 1], 1u64 << 10),
                b'M' => (&text[..text.len() - 1], 1 << 20),
                b'G' => (&text[..text.len() - 1], 1 << 30),
                _ => (text, 1),
            };
            digits.parse::<u64>().ok()?.checked_mul(unit)
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_cores_and_a_caption() {
        let machine = Machine::this();
        assert!(machine.cores >= 1);
        assert!(machine.to_string().contains(std::env::consts::ARCH));
    }
}
