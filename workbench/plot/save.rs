//! Saving of reports to files.

use std::path::Path;

use super::{Page, Quantity, Svg, sweep};
use crate::bench::BenchReport;
use crate::runtime::{Error, Result};

impl BenchReport {
    /// The picture: size against time, or throughput where bytes are known.
    pub fn plot(&self) -> Svg {
        sweep(self, Quantity::Auto)
    }

    /// Writes the report: as JSON to a path that ends in `.json`, as [`BenchReport::csv`] to one that ends in `.csv`, as a picture on white
    /// to one that ends in `.svg`, as the table to one that ends in `.txt`.
    ///
    /// # Errors
    /// An argument error for any other ending; `Other` where the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let text = self.text_for(path)?;
        std::fs::write(path, text).map_err(|e| Error::Other(format!("`{}` could not be written: {e}", path.display())))
    }

    /// The text that [`BenchReport::save`] writes to a path.
    ///
    /// # Errors
    /// An argument error for an ending that names no format.
    pub fn text_for(&self, path: &Path) -> Result<String> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        Ok(match ending.as_str() {
            "json" => self.to_json()? + "\n",
            "csv" => self.csv(),
            "svg" => self.plot().on_page(Page::Light).into_string(),
            "txt" => format!("{self}\n"),
            _ => {
                let shown = path.display();
                return Err(Error::argument(format!("`{shown}` ends in none of `.json`, `.csv`, `.svg`, `.txt`")));
            }
        })
    }
}
