//! Module variables from the host's side: `__constant__` and `__device__` variables read and written between launches.

use super::builder::Element;
use super::{DType, Error, Program, Result};
use crate::back::Interrupt;
use crate::ir::{Global, Space};

/// A `__constant__` or `__device__` variable of a program. Each GPU has its own variable of a program for the GPU: writes go to all,
/// and reads are from the first GPU that the program ran on.
#[derive(Clone)]
pub struct Symbol {
    program: Program,
    global: Global,
}

impl Program {
    /// A `__constant__` or `__device__` variable by name.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the variables there are.
    pub fn symbol(&self, name: &str) -> Result<Symbol> {
        let mut all =
            self.module().globals.iter().enumerate().filter(|(_, g)| g.space != Space::ReadOnly && g.name == name);
        let found = all.next().map(|(index, _)| index);
        if all.next().is_some() {
            return Err(Error::argument(format!(
                "`{name}` is the name of several variables, of different namespaces; give them different names"
            )));
        }
        match found {
            Some(index) => Ok(Symbol { program: self.clone(), global: Global::new(index) }),
            None => {
                let names = self.symbol_names();
                Err(Error::argument(format!(
                    "there is no `__constant__` or `__device__` variable `{name}`; the text has {}",
                    super::program::list(&names)
                )))
            }
        }
    }

    /// The names of the `__constant__` and `__device__` variables, in text order. Those whose value can never change are constants
    /// and not among them.
    pub fn symbol_names(&self) -> Vec<String> {
        let settable = self.module().globals.iter().filter(|g| g.space != Space::ReadOnly);
        settable.map(|g| g.name.clone()).collect()
    }
}

impl Symbol {
    fn data(&self) -> &crate::ir::GlobalData {
        &self.program.module().globals[self.global.index()]
    }

    /// The variable's name.
    pub fn name(&self) -> &str {
        &self.data().name
    }

    /// The element type; `None` where the elements have several types.
    pub fn dtype(&self) -> Option<DType> {
        self.data().elem.map(DType::from)
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.data().bytes.len()
    }

    /// Its contents, as bytes. On a GPU those after every kernel that was queued; before the first launch those of the
    /// text.
    ///
    /// # Errors
    /// On a GPU: [`Error::DeviceUnavailable`] where it cannot be asked, [`Error::Fault`] for what a kernel that was queued did wrong.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.bytes_unless(None)
    }

    /// As [`Symbol::bytes`], which an interrupt ends with an [`Error::Fault`].
    ///
    /// # Errors
    /// As there.
    pub fn bytes_unless(&self, interrupt: Option<&dyn Interrupt>) -> Result<Vec<u8>> {
        if let Some(code) = self.program.cpu_code() {
            return Ok(code.read_global(self.global).unwrap_or_default());
        }
        let code = self.program.cuda("variable")?;
        let now = code.read_variable(self.name(), self.size(), interrupt)?;
        Ok(now.unwrap_or_else(|| self.data().bytes.clone()))
    }

    /// Replaces its contents, for the launches that begin from now on.
    ///
    /// # Errors
    /// [`Error::Argument`] unless there are exactly as many bytes; on a GPU also as [`Symbol::bytes`].
    pub fn set_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.set_bytes_unless(bytes, None)
    }

    /// As [`Symbol::set_bytes`], which an interrupt ends with an [`Error::Fault`].
    ///
    /// # Errors
    /// As there.
    pub fn set_bytes_unless(&self, bytes: &[u8], interrupt: Option<&dyn Interrupt>) -> Result<()> {
        let wrong = || Error::argument(format!("`{}` has {} bytes; {} given", self.name(), self.size(), bytes.len()));
        match self.program.cpu_code() {
            Some(code) if code.write_global(self.global, bytes) => Ok(()),
            None if bytes.len() == self.size() => {
                Ok(self.program.cuda("variable")?.write_variable(self.name(), bytes, interrupt)?)
            }
            _ => Err(wrong()),
        }
    }

    /// Its contents, as numbers of its element type.
    ///
    /// # Errors
    /// [`Error::Argument`] when `T` is not the element type.
    pub fn get<T: Element + bytemuck::AnyBitPattern>(&self) -> Result<Vec<T>> {
        self.expect(T::DTYPE)?;
        Ok(self.bytes()?.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    /// Replaces its contents.
    ///
    /// # Errors
    /// [`Error::Argument`] when `T` is not the element type or there are not exactly as many elements.
    pub fn set<T: Element + bytemuck::NoUninit>(&self, values: &[T]) -> Result<()> {
        self.expect(T::DTYPE)?;
        self.set_bytes(bytemuck::cast_slice(values))
    }

    fn expect(&self, given: DType) -> Result<()> {
        match self.dtype() {
            Some(dtype) if dtype == given => Ok(()),
            Some(dtype) => Err(Error::argument(format!("`{}` holds {dtype}, not {given}", self.name()))),
            None => Err(Error::argument(format!("`{}` does not hold numbers of one type", self.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::CompileOptions;

    #[test]
    fn variables_are_read_and_written_by_name_and_type() {
        let text = "__constant__ float w[3]; __device__ int n = 5; const int fixed = 2;
            __global__ void k(float* x) { x[threadIdx.x] = w[threadIdx.x] * n * fixed; n += 1; }";
        let program = Program::compile(text, &CompileOptions::default()).expect("it compiles");
        assert_eq!(program.symbol_names(), ["w", "n"]);
        let (w, n) = (program.symbol("w").expect("it is there"), program.symbol("n").expect("it is there"));
        w.set(&[1.0f32, 2.0, 4.0]).expect("it fits");
        let mut x = vec![0.0f32];
        program.kernel("k").expect("it is there").launch(1, 1).arg(&mut x).run().expect("it runs");
        assert_eq!((x[0], n.get::<i32>().expect("its type"), w.size()), (10.0, vec![6], 12));
        for wrong in
            [w.set(&[1.0f32]), w.set(&[1.0f64; 3]), w.get::<i32>().map(drop), program.symbol("fixed").map(drop)]
        {
            assert!(matches!(wrong, Err(Error::Argument(_))), "{wrong:?}");
        }
    }
}
