//! Operators by name. A new registration of a name replaces the operator, without a message and for every handle.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use super::binding::{Bound, Source, bind, describe, fresh_outputs};
use super::gradient::Gradient;
use super::history::{CheckNote, History, MOST, TimeNote, bare};
use super::last_call::Last;
use super::schema::{Kind, Schema};
use super::shape::{Expr, Extents, Shape, Signature};
use crate::front::kernel_calls::{KernelArg, KernelArgs, KernelCall};
use crate::ir::{Elem, ParamType, Scalar};
use crate::plural::plural;
use crate::runtime::{CompileOptions, DType, Error, Kernel, Program, Result, Tensor};

/// The shape and type of an array that does not exist yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its extents.
    pub shape: Shape,
    /// Its element type.
    pub dtype: DType,
}

/// A shape function given as a callable: the specs of the tensor arguments in, one spec per output out.
pub type ShapeFn = Arc<dyn Fn(&[Spec]) -> Result<Vec<Spec>> + Send + Sync>;

/// The rule that gives output shapes.
#[derive(Clone, Default)]
pub enum ShapeRule {
    /// The shape of input 0.
    #[default]
    LikeFirst,
    /// A signature such as `a[m,k], b[k,n] -> out[m,n]`.
    Signature(String),
    /// A callable.
    Callable(ShapeFn),
}

/// An implementation on whole arrays, in Rust.
pub type HostFn = Arc<dyn Fn(&[super::OwnedArg]) -> Result<Vec<Tensor>> + Send + Sync>;

/// The origin of an operator's kernel.
#[derive(Clone)]
pub enum SourceCode {
    /// A compiled program.
    Program(Program),
    /// A text to compile.
    Text(String, CompileOptions),
    /// A Rust closure over whole arrays.
    Host(HostFn),
}

/// The parts of an operator besides its schema.
#[derive(Clone)]
pub struct OpOptions {
    /// The kernel's text, program or closure.
    pub source: SourceCode,
    /// The kernel's name; `None`: the operator's own name, or the only kernel there is.
    pub kernel: Option<String>,
    /// The shape rule.
    pub shape: ShapeRule,
    /// The number of threads, as expressions over dims (`"n"`, or `"n, m"` for x and y); `None`: one thread per element of output 0.
    pub threads: Option<String>,
    /// Threads of a block; `None`: 256, or 16 x 16 for two extents.
    pub block: Option<[u32; 3]>,
    /// The number of blocks, as expressions over dims, instead of `threads`.
    pub grid: Option<String>,
    /// Bytes of dynamic shared memory of a block, as an expression over dims; `None`: none.
    pub shared_mem: Option<String>,
    /// The time that a call may take.
    pub timeout: Option<Duration>,
}

impl OpOptions {
    /// The options with the text in place of a program, whose machine code would stay in memory.
    fn light(&self) -> Self {
        let mut options = self.clone();
        if let SourceCode::Program(program) = &options.source {
            options.source = SourceCode::Text(program.text().to_owned(), program.options().clone());
        }
        options
    }

    /// The text of the source; empty for a closure.
    fn text(&self) -> &str {
        match &self.source {
            SourceCode::Text(text, _) => text,
            SourceCode::Program(program) => program.text(),
            SourceCode::Host(_) => "",
        }
    }

    fn has_source_of(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (SourceCode::Text(a, with), SourceCode::Text(b, other)) => {
                // A cell has another number at each run.
                let nameless = |options: &CompileOptions| CompileOptions { name: String::new(), ..options.clone() };
                bare(a) == bare(b) && nameless(with) == nameless(other)
            }
            (SourceCode::Host(a), SourceCode::Host(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The options that are not their defaults, as they are written.
    fn said(&self) -> Vec<String> {
        let text = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value:?}"));
        let shape = match &self.shape {
            ShapeRule::Signature(text) => Some(format!("shape={text:?}")),
            ShapeRule::LikeFirst | ShapeRule::Callable(_) => None,
        };
        let block = self.block.map(|[x, y, z]| match (y, z) {
            (1, 1) => format!("block={x}"),
            _ => format!("block=({x}, {y}, {z})"),
        });
        let timeout = self.timeout.map(|t| format!("timeout={}", t.as_secs_f64()));
        let (kernel, threads) = (text("kernel", &self.kernel), text("threads", &self.threads));
        let (grid, shared_mem) = (text("grid", &self.grid), text("shared_mem", &self.shared_mem));
        let mut said: Vec<String> =
            [kernel, shape, threads, block, grid, shared_mem, timeout].into_iter().flatten().collect();
        if let SourceCode::Text(_, options) = &self.source {
            said.extend(options.front.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
            said.extend(
                options.front.headers.iter().map(|(name, text)| format!("{name}={} lines", text.lines().count())),
            );
            said.extend(options.front.instances.iter().map(|name| format!("instance={name}")));
            said.extend(options.unified_memory.then(|| "unified_memory=true".to_owned()));
        }
        said
    }

    /// Options for a source, everything else at its default.
    pub fn new(source: SourceCode) -> Self {
        OpOptions {
            source,
            kernel: None,
            shape: ShapeRule::LikeFirst,
            threads: None,
            block: None,
            grid: None,
            shared_mem: None,
            timeout: None,
        }
    }
}

/// The launch and the shapes of an operator as they were written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    pub threads: Option<String>,
    pub grid: Option<String>,
    pub shared_mem: Option<String>,
    pub shape: Option<String>,
}

impl Written {
    fn of(options: &OpOptions) -> Self {
        let shape = match &options.shape {
            ShapeRule::Signature(text) => Some(text.clone()),
            ShapeRule::LikeFirst | ShapeRule::Callable(_) => None,
        };
        let OpOptions { threads, grid, shared_mem, .. } = options.clone();
        Written { threads, grid, shared_mem, shape }
    }

    /// The extent, `threads="n"` or `grid="n"`, for messages.
    pub(crate) fn extent(&self) -> String {
        match (&self.threads, &self.grid) {
            (Some(threads), _) => format!("`threads=\"{threads}\"`"),
            (None, Some(grid)) => format!("`grid=\"{grid}\"`"),
            (None, None) => String::new(),
        }
    }
}

/// The rule that gives a kernel implementation its launch.
#[derive(Debug, Clone)]
pub enum Extent {
    /// One thread per element of output 0 (of the first written argument when there is no output).
    PerElement,
    /// The numbers of threads in x, y, z.
    Threads(Vec<Expr>),
    /// The numbers of blocks in x, y, z.
    Blocks(Vec<Expr>),
}

/// One implementation of an operator.
pub(crate) enum Implementation {
    /// A kernel.
    Kernel(KernelImpl),
    /// A Rust closure.
    Host(HostFn),
    /// A function outside, by its number, which the maker of the operator runs itself, for calls whose first array is of one of these
    /// types; `None`: of any.
    Outside(Option<Vec<DType>>, usize),
}

/// A kernel implementation with its float64 twin and its twin on a GPU, made when first asked for.
pub(crate) struct KernelImpl {
    pub bound: Arc<Bound>,
    pub twin: OnceLock<std::result::Result<Arc<Bound>, String>>,
    /// Tried again where it could not be made: NVRTC may have been installed by then.
    pub for_gpu: Mutex<Option<Arc<Bound>>>,
}

impl KernelImpl {
    fn new(bound: Bound) -> Self {
        KernelImpl { bound: Arc::new(bound), twin: OnceLock::new(), for_gpu: Mutex::default() }
    }
}

/// A template of kernels, the instances of which serve an operator.
pub(crate) struct Template {
    program: Program,
    pub(crate) name: String,
}

impl Template {
    /// The instance for arrays of these element types, by the names of the arguments.
    pub(crate) fn instance(&self, arrays: Vec<(String, Elem)>) -> Result<Kernel> {
        let named = arrays.into_iter().map(|(name, elem)| (name, KernelArg::Array(elem))).collect();
        self.program.deduce(&KernelCall { template: self.name.clone(), args: KernelArgs::Named(named) })
    }
}

/// The meaning of an operator's name now.
pub struct Definition {
    /// The schema.
    pub schema: Schema,
    pub(crate) signature: Option<Signature>,
    /// The meaning of names in `threads=` and `grid=` where there is no signature: the integer arguments, `numel` and `n`.
    pub(crate) plain: Signature,
    pub(crate) shape_fn: Option<ShapeFn>,
    pub(crate) extent: Extent,
    /// The launch and the shapes as they were written.
    pub(crate) written: Written,
    pub(crate) block: [u32; 3],
    pub(crate) shared_mem: Option<Expr>,
    pub(crate) implementations: RwLock<Vec<Arc<Implementation>>>,
    /// The name of the kernel or the template that the text was asked for; `None` for a closure.
    pub(crate) picked: Option<String>,
    /// The template that more implementations come from.
    pub(crate) template: Option<Template>,
    /// The element type of each fresh output for which the first kernel's type differs from that of its first array; other implementations
    /// give the same type.
    fixed: Vec<Option<DType>>,
    /// The schema argument for each input of the signature.
    pub(crate) signed: Vec<usize>,
    pub(crate) gradient: RwLock<Option<Gradient>>,
    /// The last call's plan.
    pub(crate) last: Last,
    /// The time that a call may take.
    pub timeout: Option<Duration>,
}

/// The place of a name in the registry.
pub(crate) struct Entry {
    pub name: String,
    current: RwLock<Arc<Definition>>,
    past: Mutex<Past>,
    /// The operator and the number of the version that this is, where it is one version and not what the name means.
    version: Option<(Arc<Entry>, u32)>,
}

/// The versions of a name, and what each is made of.
#[derive(Default)]
struct Past {
    history: History,
    recipes: VecDeque<Recipe>,
}

/// The parts that a version is made of. The last [`KEPT`] keep their compiled definitions; an older one is compiled again when it is asked for.
struct Recipe {
    number: u32,
    options: OpOptions,
    definition: Option<Arc<Definition>>,
}

/// The number of versions that keep their compiled definitions.
const KEPT: usize = 8;

impl Entry {
    fn past(&self) -> std::sync::MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Past {
    /// Adds a definition; one that is what the newest version is takes its place.
    fn add(&mut self, options: &OpOptions, definition: &Arc<Definition>) {
        let options = options.light();
        let last = self.recipes.back();
        let is_other = last.is_some_and(|last| !options.has_source_of(&last.options));
        let (schema, text) = (definition.schema.to_string(), options.text().to_owned());
        let (number, is_new) = self.history.add(&schema, &text, options.said(), is_other);
        if !is_new {
            self.recipes.pop_back();
        }
        self.recipes.push_back(Recipe { number, options, definition: Some(definition.clone()) });
        if let Some(old) = self.recipes.len().checked_sub(KEPT + 1) {
            self.recipes[old].definition = None;
        }
        if self.recipes.len() > MOST {
            self.recipes.pop_front();
        }
    }

    /// The schema of a version, and what it is made of.
    fn recipe(&self, number: u32) -> Result<(String, OpOptions, Option<Arc<Definition>>)> {
        let version = self.history.version(number)?;
        let recipe = self.recipes.iter().find(|recipe| recipe.number == number);
        let recipe = recipe.ok_or_else(|| Error::argument(format!("version {number} cannot be made again")))?;
        Ok((version.schema.clone(), recipe.options.clone(), recipe.definition.clone()))
    }
}

static REGISTRY: LazyLock<RwLock<HashMap<String, Arc<Entry>>>> = LazyLock::new(RwLock::default);

/// A handle to an operator's *name*: it runs whatever the name means at the time of the call.
#[derive(Clone)]
pub struct Op {
    entry: Arc<Entry>,
}

/// Reads a lock even after a holder has panicked: definitions are replaced whole, never half.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl Op {
    /// Defines an operator, or redefines its name.
    ///
    /// # Errors
    /// [`Error::Compile`] when the text does not compile; [`Error::Argument`] for a malformed schema, signature or
    /// expression (with a caret), or parameters that cannot be bound (with the binding made).
    pub fn define(schema: &str, options: OpOptions) -> Result<Op> {
        let definition = Arc::new(Definition::new(schema, options.clone())?);
        let name = definition.schema.qualified_name();
        let mut registry = write(&REGISTRY);
        let entry = match registry.get(&name) {
            Some(entry) => entry.clone(),
            None => {
                let history = History { name: name.clone(), ..History::default() };
                let past = Mutex::new(Past { history, recipes: VecDeque::new() });
                let current = RwLock::new(definition.clone());
                let entry = Arc::new(Entry { name: name.clone(), current, past, version: None });
                registry.insert(name, entry.clone());
                entry
            }
        };
        drop(registry);
        // The newest version is what the name means, whoever else defines it.
        let mut past = entry.past();
        past.add(&options, &definition);
        *write(&entry.current) = definition;
        drop(past);
        Ok(Op { entry })
    }

    /// An operator of a definition that is registered nowhere: no name means it, no history notes it.
    ///
    /// # Errors
    /// As [`Op::define`].
    pub fn unregistered(schema: &str, options: OpOptions) -> Result<Op> {
        let definition = Arc::new(Definition::new(schema, options)?);
        let name = definition.schema.qualified_name();
        let entry = |version| {
            let past = Mutex::new(Past { history: History::default(), recipes: VecDeque::new() });
            Arc::new(Entry { name: name.clone(), current: RwLock::new(definition.clone()), past, version })
        };
        // It is a version of itself, which calls do not look for by its name.
        let own = entry(None);
        Ok(Op { entry: entry(Some((own, 0))) })
    }

    /// The versions of the name: each definition that differed from the one before. Of a version that [`Op::version`] gave, those of its
    /// operator.
    pub fn history(&self) -> History {
        self.recorder().0.past().history.clone()
    }

    /// A version by its number, as an operator that is not what the name means: calls, checks and benchmarks run it, and are noted in it.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is no such version; [`Error::Compile`] where its text no longer compiles, because a header is gone.
    pub fn version(&self, number: u32) -> Result<Op> {
        let (entry, _) = self.recorder();
        let (schema, options, definition) = entry.past().recipe(number)?;
        let definition = match definition {
            Some(definition) => definition,
            None => Arc::new(Definition::new(&schema, options)?),
        };
        let (name, current) = (entry.name.clone(), RwLock::new(definition));
        let entry = Entry { name, current, past: Mutex::default(), version: Some((entry.clone(), number)) };
        Ok(Op { entry: Arc::new(entry) })
    }

    /// Gives the name the meaning that it had in a version, as a new version.
    ///
    /// # Errors
    /// As [`Op::version`].
    pub fn restore(&self, number: u32) -> Result<()> {
        let (schema, options, _) = self.recorder().0.past().recipe(number)?;
        Op::define(&schema, options)?.note_restored(number);
        Ok(())
    }

    /// Notes the outcome of a check in a version, which is the one that [`Op::version_number`] gave before it.
    pub fn note_check(&self, number: u32, check: CheckNote) {
        self.recorder().0.past().history.note_check(number, check);
    }

    /// Notes times in a version, which is the one that [`Op::version_number`] gave before they were measured.
    pub fn note_times(&self, number: u32, times: Vec<TimeNote>) {
        self.recorder().0.past().history.note_times(number, times);
    }

    /// True if this is one version, and not what the name means.
    pub fn is_version(&self) -> bool {
        self.entry.version.is_some()
    }

    /// The number of the version that this is.
    pub fn version_number(&self) -> u32 {
        self.recorder().1
    }

    /// Says that the newest version restores another one.
    pub fn note_restored(&self, number: u32) {
        self.recorder().0.past().history.note_restored(number);
    }

    /// The entry that has the history, and the number of the version that this is.
    fn recorder(&self) -> (&Arc<Entry>, u32) {
        match &self.entry.version {
            Some((entry, number)) => (entry, *number),
            None => (&self.entry, self.entry.past().history.last()),
        }
    }

    /// The operator of a name, if there is one.
    pub fn get(name: &str) -> Option<Op> {
        read(&REGISTRY).get(name).map(|entry| Op { entry: entry.clone() })
    }

    /// Every name, sorted.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = read(&REGISTRY).keys().cloned().collect();
        names.sort();
        names
    }

    /// Its qualified name, `ns::name`.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// The meaning of the name now.
    pub fn definition(&self) -> Arc<Definition> {
        read(&self.entry.current).clone()
    }

    /// Adds a kernel that serves other element types (or another device) than those registered; one for the same types
    /// replaces the earlier.
    ///
    /// # Errors
    /// [`Error::Argument`] when the kernel's parameters cannot be bound to the schema.
    pub fn register_kernel(&self, kernel: Kernel) -> Result<()> {
        self.definition().add(self.name(), kernel).map(drop)
    }

    /// Has calls whose first array is of one of these types (`None`: all calls) served by a function that the caller runs itself;
    /// [`Op::outside`] gives its number. Earlier implementations for these calls are removed.
    pub fn register_outside(&self, dtypes: Option<Vec<DType>>, number: usize) {
        let definition = self.definition();
        let mut all = write(&definition.implementations);
        definition.last.forget();
        let Some(taken) = &dtypes else {
            *all = vec![Arc::new(Implementation::Outside(None, number))];
            return;
        };
        // Kernels may take arrays of other types after the first; they are checked later.
        all.retain(|i| !matches!(&**i, Implementation::Outside(Some(old), _) if old.iter().all(|d| taken.contains(d))));
        all.insert(0, Arc::new(Implementation::Outside(dtypes, number)));
    }

    /// The binding of its kernels' parameters, one per line.
    pub fn binding(&self) -> String {
        let definition = self.definition();
        let texts: Vec<String> = read(&definition.implementations)
            .iter()
            .map(|i| match &**i {
                Implementation::Kernel(k) => {
                    let sources: Vec<_> = k.bound.sources.iter().copied().map(Some).collect();
                    describe(&definition.schema, definition.signature.as_ref(), &k.bound.kernel, &sources)
                }
                Implementation::Host(_) => "a host function on whole arrays".to_owned(),
                Implementation::Outside(None, _) => "a callable, for arrays of any type".to_owned(),
                Implementation::Outside(Some(dtypes), _) => {
                    let names: Vec<&str> = dtypes.iter().map(|d| d.name()).collect();
                    format!("a callable, for arrays of {}", names.join(", "))
                }
            })
            .collect();
        texts.join("\n")
    }

    /// The kernels that implement it.
    pub fn kernels(&self) -> Vec<Kernel> {
        read(&self.definition().implementations)
            .iter()
            .filter_map(|i| match &**i {
                Implementation::Kernel(k) => Some(k.bound.kernel.clone()),
                Implementation::Host(_) | Implementation::Outside(..) => None,
            })
            .collect()
    }

    /// Sets or replaces its gradient.
    pub fn set_gradient(&self, gradient: Gradient) {
        *write(&self.definition().gradient) = Some(gradient);
    }

    /// Its gradient, if one is registered.
    pub fn gradient(&self) -> Option<Gradient> {
        read(&self.definition().gradient).clone()
    }
}

impl Definition {
    /// The meaning of a schema and options.
    fn new(schema: &str, options: OpOptions) -> Result<Definition> {
        let schema = Schema::parse_operator(schema)?;
        let name = schema.qualified_name();
        let integers: Vec<&str> = schema.args.iter().filter(|a| a.kind.is_int()).map(|a| a.name.as_str()).collect();
        let (signature, shape_fn) = match &options.shape {
            ShapeRule::LikeFirst => (None, None),
            ShapeRule::Signature(text) => (Some(Signature::parse(text, &integers)?), None),
            ShapeRule::Callable(f) => (None, Some(f.clone())),
        };
        let signed = match &signature {
            Some(signature) => match_inputs(&name, &schema, signature)?,
            None => Vec::new(),
        };
        check_interface(&name, &schema)?;
        let plain = Signature::parse("x[*] -> out[*]", &integers)?;
        let names = signature.as_ref().unwrap_or(&plain);
        let extent = extent(&name, names, &options)?;
        let written = Written::of(&options);
        let shared_mem = shared_mem(&name, names, &options)?;
        let flat = match &extent {
            Extent::PerElement => true,
            Extent::Threads(e) | Extent::Blocks(e) => e.len() < 2,
        };
        // Integer arguments that shapes or launches use need not be parameters of the kernel.
        let free = |arg: &str| {
            shape_fn.is_some() || names.dim(arg).is_some_and(|d| uses(names, &extent, shared_mem.as_ref(), d))
        };
        let binds = |kernel: Kernel| bind(&schema, signature.as_ref(), kernel, &free);
        let of_program = |program: Program| -> Result<_> {
            let (bound, template) = match pick(&name, &schema, &program, options.kernel.as_deref())? {
                Meant::Kernel(kernel) => (binds(kernel)?, None),
                Meant::Template(template) => {
                    let template = Template { program, name: template };
                    (first_instance(&schema, &template, &binds)?, Some(template))
                }
            };
            Ok((Implementation::Kernel(KernelImpl::new(bound)), template))
        };
        let (implementation, template) = match options.source {
            SourceCode::Host(f) => (Implementation::Host(f), None),
            SourceCode::Program(program) => of_program(program)?,
            SourceCode::Text(text, compile) => of_program(Program::compile(&text, &compile)?)?,
        };
        let (mut usual, mut picked) = (256, template.as_ref().map(|template: &Template| template.name.clone()));
        let mut fixed = Vec::new();
        if let Implementation::Kernel(k) = &implementation {
            fixed = fixed_outputs(&k.bound);
            usual = k.bound.kernel.default_block();
            picked = picked.or_else(|| Some(k.bound.kernel.name().to_owned()));
            if signature.is_none() && shape_fn.is_none() {
                check_like_first(&name, &schema)?;
            }
        }
        let block = options.block.unwrap_or(if flat { [usual, 1, 1] } else { [16, 16, 1] });
        Ok(Definition {
            schema,
            signature,
            plain,
            shape_fn,
            extent,
            written,
            block,
            shared_mem,
            implementations: RwLock::new(vec![Arc::new(implementation)]),
            picked,
            template,
            fixed,
            signed,
            gradient: RwLock::new(None),
            last: Last::default(),
            timeout: options.timeout,
        })
    }

    /// Adds a kernel, replacing one for the same types.
    pub(crate) fn add(&self, name: &str, kernel: Kernel) -> Result<Arc<Bound>> {
        let names = self.signature.as_ref().unwrap_or(&self.plain);
        let free = |arg: &str| {
            self.shape_fn.is_some()
                || names.dim(arg).is_some_and(|d| uses(names, &self.extent, self.shared_mem.as_ref(), d))
        };
        if self.signature.is_none() && self.shape_fn.is_none() {
            check_like_first(name, &self.schema)?;
        }
        let made = KernelImpl::new(bind(&self.schema, self.signature.as_ref(), kernel, &free)?);
        let bound = made.bound.clone();
        let mut all = write(&self.implementations);
        self.last.forget();
        all.retain(|i| match &**i {
            Implementation::Kernel(k) => !same_types(&k.bound, &bound),
            Implementation::Host(_) | Implementation::Outside(..) => true,
        });
        // The implementation registered last serves its types.
        let outside = all.iter().position(|i| matches!(&**i, Implementation::Outside(..)));
        let at = outside.unwrap_or(all.len());
        all.insert(at, Arc::new(Implementation::Kernel(made)));
        Ok(bound)
    }

    pub(crate) fn implementations(&self) -> Vec<Arc<Implementation>> {
        read(&self.implementations).clone()
    }

    /// The first implementation, without a copy of the list: nearly always the only one.
    pub(crate) fn first(&self) -> Option<Arc<Implementation>> {
        read(&self.implementations).first().cloned()
    }

    /// True if a callable gives the shapes of the outputs.
    pub fn has_shape_callable(&self) -> bool {
        self.shape_fn.is_some()
    }

    /// The shape signature, if there is one, and the schema argument for each of its inputs.
    pub fn signature(&self) -> Option<(&Signature, &[usize])> {
        self.signature.as_ref().map(|signature| (signature, self.signed.as_slice()))
    }

    /// The element type of a fresh output of an implementation that is no kernel, by that of the first array.
    pub(crate) fn other_dtype(&self, output: usize, first: DType) -> DType {
        let said = self.signature.as_ref().and_then(|s| s.outputs.get(output)?.dtype);
        said.or_else(|| self.fixed.get(output).copied().flatten()).unwrap_or(first)
    }

    /// The number of fresh outputs of a call.
    pub fn output_count(&self) -> usize {
        fresh_outputs(&self.schema).len()
    }

    /// The names of the fresh outputs, where the schema or the signature names them.
    pub fn output_names(&self) -> Vec<Option<String>> {
        let signed = |k: usize| self.signature.as_ref().and_then(|s| s.outputs.get(k)).map(|o| o.name.clone());
        fresh_outputs(&self.schema)
            .into_iter()
            .enumerate()
            .map(|(k, name)| name.map(str::to_owned).or_else(|| signed(k)))
            .collect()
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entry, &other.entry)
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Op({})", self.definition().schema)
    }
}

fn same_types(a: &Bound, b: &Bound) -> bool {
    let types = |bound: &Bound| -> Vec<_> { bound.kernel.params().iter().map(|p| p.ty).collect() };
    let device = |bound: &Bound| bound.kernel.program().options().device;
    types(a) == types(b) && device(a) == device(b)
}

/// The element types of a kernel's outputs that differ from that of its first array.
fn fixed_outputs(bound: &Bound) -> Vec<Option<DType>> {
    let arrays =
        bound.sources.iter().zip(bound.kernel.params()).filter_map(|(source, param)| match (source, param.ty) {
            (Source::Input(a, _), ParamType::Ptr { elem: Some(elem), .. }) => Some((*a, DType::from(elem))),
            _ => None,
        });
    let first = arrays.min_by_key(|(a, _)| *a).map(|(_, dtype)| dtype);
    bound.outputs.iter().map(|d| Some(*d).filter(|d| first.is_some_and(|first| first != *d))).collect()
}

/// The result of [`pick`].
enum Meant {
    Kernel(Kernel),
    Template(String),
}

/// The kernel meant, or the template of kernels: the one named, the one with the operator's name, or the only one.
fn pick(name: &str, schema: &Schema, program: &Program, wanted: Option<&str>) -> Result<Meant> {
    let (names, templates) = (program.kernel_names(), program.template_names());
    let found = |wanted: &str| match templates.iter().any(|t| t == wanted) && !names.iter().any(|n| n == wanted) {
        true => Ok(Meant::Template(wanted.to_owned())),
        false => program.kernel(wanted).map(Meant::Kernel),
    };
    if let Some(wanted) = wanted {
        return found(wanted);
    }
    if names.contains(&schema.name) || templates.contains(&schema.name) {
        return found(&schema.name);
    }
    match (names.as_slice(), templates) {
        ([only], _) => found(only),
        ([], [only]) => found(only),
        ([], []) => {
            let why =
                program.left_out(&schema.name).or_else(|| program.uncallable(&schema.name)).unwrap_or_else(|| {
                    "write `__global__` before a function of type void, or a host function of that name".to_owned()
                });
            Err(Error::argument(format!("`{name}`: the text has no `__global__` kernel; {why}")))
        }
        (many, templates) => Err(Error::argument(format!(
            "`{name}`: the text has several kernels ({}); say which with kernel=",
            many.iter().chain(templates).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Element types that an operator of a template begins with, the first that its text compiles for.
const FIRST: [Scalar; 4] = [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64];

/// The instance of a template that shows how its parameters are bound: all arrays of one type, or else all but one, which holds indices.
fn first_instance(schema: &Schema, template: &Template, binds: &dyn Fn(Kernel) -> Result<Bound>) -> Result<Bound> {
    let tensors: Vec<&str> = schema.args.iter().filter(|a| a.is_tensor()).map(|a| a.name.as_str()).collect();
    let alike = FIRST.into_iter().map(|one| vec![one; tensors.len()]);
    let indexed = (0..tensors.len()).flat_map(|at| {
        [Scalar::I64, Scalar::I32].map(|index| {
            let mut types = vec![Scalar::F32; tensors.len()];
            types[at] = index;
            types
        })
    });
    let several = tensors.len() > 1;
    let mut first_error = None;
    for types in alike.chain(indexed.filter(|_| several)) {
        let arrays = tensors.iter().map(|name| (*name).to_owned()).zip(types.into_iter().map(Elem::from)).collect();
        match template.instance(arrays).and_then(binds) {
            Ok(bound) => return Ok(bound),
            Err(error) => _ = first_error.get_or_insert(error),
        }
    }
    Err(first_error.unwrap_or_else(|| Error::argument(format!("`{}` has no instance", template.name))))
}

/// The schema argument of each input of the signature, by name.
fn match_inputs(name: &str, schema: &Schema, signature: &Signature) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for input in &signature.inputs {
        match schema.args.iter().position(|a| a.name == input.name && a.is_tensor()) {
            Some(a) => found.push(a),
            None => {
                let tensors: Vec<String> =
                    schema.args.iter().filter(|a| a.is_tensor()).map(|a| format!("`{}`", a.name)).collect();
                return Err(Error::argument(format!(
                    "`{name}`: shape input `{}` is no tensor argument of the schema (it has {})",
                    input.name,
                    tensors.join(", ")
                )));
            }
        }
    }
    let fresh = fresh_outputs(schema).len();
    if signature.outputs.len() != fresh {
        return Err(Error::argument(format!(
            "`{name}`: the shape signature has {}, and the schema {fresh}",
            plural(signature.outputs.len(), "output")
        )));
    }
    let any_output = signature.outputs.iter().any(|o| o.extents == Extents::Any);
    let any_input = signature.inputs.iter().any(|i| i.extents == Extents::Any);
    if any_output && !any_input {
        return Err(Error::argument(format!("`{name}`: an output is `[*]` and no input is")));
    }
    Ok(found)
}

/// True if an output's extents or the launch need a dim.
fn uses(signature: &Signature, extent: &Extent, shared_mem: Option<&Expr>, dim: usize) -> bool {
    let launch = match extent {
        Extent::PerElement => &[][..],
        Extent::Threads(exprs) | Extent::Blocks(exprs) => exprs,
    };
    let extents = signature.outputs.iter().flat_map(|o| match &o.extents {
        Extents::Any => &[][..],
        Extents::Listed(listed) => listed,
    });
    extents.chain(launch).chain(shared_mem).any(|e| e.uses(dim))
}

/// Checks that a schema returns only fresh tensors and arguments it writes.
fn check_interface(name: &str, schema: &Schema) -> Result<()> {
    for ret in &schema.returns {
        if ret.kind != Kind::Tensor {
            return Err(Error::argument(format!(
                "`{name}`: `{}` is returned; an operator returns tensors (a kernel writes a number as an array of one)",
                ret.kind
            )));
        }
        let known = |a: &super::schema::Argument| a.mutated && a.alias == ret.alias;
        if ret.alias.is_some() && !(ret.mutated && schema.args.iter().any(known)) {
            return Err(Error::argument(format!(
                "`{name}`: a result is said to share memory with an argument that is not written; views are not supported: \
                 write `Tensor(a!)` at both, or return a fresh `Tensor`"
            )));
        }
    }
    Ok(())
}

/// Checks that there is an input 0 where outputs are like input 0.
fn check_like_first(name: &str, schema: &Schema) -> Result<()> {
    if fresh_outputs(schema).is_empty() || schema.args.iter().any(|a| a.kind == Kind::Tensor) {
        return Ok(());
    }
    Err(Error::argument(format!(
        "`{name}`: there is no array to take the output's shape from; write shape=\"-> out[n]\" with `n` an integer argument"
    )))
}

fn shared_mem(name: &str, signature: &Signature, options: &OpOptions) -> Result<Option<Expr>> {
    let Some(text) = &options.shared_mem else { return Ok(None) };
    let mut exprs = signature.expressions("shared_mem", text)?;
    match exprs.len() {
        1 => Ok(exprs.pop()),
        several => Err(Error::argument(format!("`{name}`: shared_mem= is one number of bytes; {several} given"))),
    }
}

fn extent(name: &str, signature: &Signature, options: &OpOptions) -> Result<Extent> {
    let (what, text, make): (_, _, fn(Vec<Expr>) -> Extent) = match (&options.threads, &options.grid) {
        (None, None) => return Ok(Extent::PerElement),
        (Some(_), Some(_)) => {
            return Err(Error::argument(format!("`{name}`: give threads= or grid=, not both")));
        }
        (Some(text), None) => ("threads", text, Extent::Threads),
        (None, Some(text)) => ("grid", text, Extent::Blocks),
    };
    let exprs = signature.expressions(what, text)?;
    if exprs.len() > 3 {
        return Err(Error::argument(format!("`{name}`: {what}= has {} extents; x, y and z are three", exprs.len())));
    }
    Ok(make(exprs))
}
