//! The tree as nested lists.

use crate::front::ast::*;

/// Shows trees.
pub struct Dump<'a>(pub &'a Interner);

impl Dump<'_> {
    fn list<T>(&self, items: &[T], show: impl Fn(&T) -> String) -> String {
        items.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    fn heads(&self, heads: &[TemplateHead]) -> String {
        heads.iter().map(|h| format!(" {}", self.head(h))).collect()
    }

    fn head(&self, head: &TemplateHead) -> String {
        let params = head.params.iter().map(|p| {
            let name = p.name.map_or("_", |n| self.name(n.name));
            let pack = if p.pack { "..." } else { "" };
            match &p.kind {
                TemplateParamKind::Type { default } => {
                    let default = default.as_ref().map_or(String::new(), |t| format!("={}", self.ty(t)));
                    format!("type{pack} {name}{default}")
                }
                TemplateParamKind::Value { ty, default } => {
                    let default = default.as_ref().map_or(String::new(), |e| format!("={}", self.expr(e)));
                    format!("{}{pack} {name}{default}", self.ty(ty))
                }
                TemplateParamKind::Template { head, default } => {
                    let default = default.as_ref().map_or(String::new(), |n| format!("={}", self.path(n)));
                    format!("template{}{pack} {name}{default}", self.head(head))
                }
            }
        });
        format!("<{}>", params.collect::<Vec<_>>().join(", "))
    }

    fn params(&self, params: &[ParamDecl]) -> String {
        let show = |p: &ParamDecl| {
            let name = p.name.map_or("_", |n| self.name(n.name));
            let default = p.default.as_ref().map_or(String::new(), |e| format!(" = {}", self.expr(e)));
            format!(" ({name} {}{}{default})", self.ty(&p.ty), if p.pack { "..." } else { "" })
        };
        params.iter().map(show).collect()
    }

    fn function(&self, f: &FunctionDecl) -> String {
        let mut out = String::from("(fn");
        for (on, word) in [
            (f.specs.global, "global"),
            (f.specs.device, "device"),
            (f.specs.host, "host"),
            (f.specs.inline, "inline"),
            (f.specs.is_static, "static"),
            (f.specs.is_extern, "extern"),
            (f.specs.constexpr, "constexpr"),
            (f.is_explicit, "explicit"),
            (f.is_const, "const"),
            (f.is_defaulted, "default"),
            (f.is_deleted, "delete"),
        ] {
            if on {
                out += &format!(" {word}");
            }
        }
        out += match f.kind {
            FunctionKind::Plain => "",
            FunctionKind::Constructor => " ctor",
            FunctionKind::Destructor => " dtor",
            FunctionKind::Conversion(_) => " conversion",
        };
        out += &self.heads(&f.templates);
        if !f.launch_bounds.is_empty() {
            out += &format!(" (bounds {})", self.list(&f.launch_bounds, |e| self.expr(e)));
        }
        out += &format!(" {} {}{}", self.path(&f.name), self.ty(&f.ret), self.params(&f.params));
        for init in &f.ctor_inits {
            let pack = if init.pack { "..." } else { "" };
            out += &format!(" :{}({}){pack}", self.path(&init.name), self.init(&init.init));
        }
        if let Some(body) = &f.body {
            out += &format!(" {}", self.compound(body));
        }
        out + ")"
    }

    /// A declaration.
    pub fn item(&self, item: &Item) -> String {
        match item {
            Item::Function(f) => self.function(f),
            Item::Variables(d) => self.declaration(d),
            Item::Alias(a) => self.alias(a),
            Item::Enum(e) => self.enumeration(e),
            Item::Struct(s) => self.record(s),
            Item::StaticAssert(a) => format!("(static_assert {} {:?})", self.expr(&a.cond), a.message),
            Item::Namespace(n) => {
                let inline = if n.is_inline { "inline-" } else { "" };
                let name = n.name.map_or("_", |n| self.name(n.name));
                format!("({inline}namespace {name} {})", self.list(&n.items, |i| self.item(i)))
            }
            Item::NamespaceAlias(a) => format!("(namespace {}={})", self.name(a.name.name), self.path(&a.target)),
            Item::UsingNamespace(n) => format!("(using-namespace {})", self.path(n)),
            Item::UsingDecl(n) => format!("(using {})", self.path(n)),
            Item::Instantiate(i) => {
                let head = if i.is_extern { "extern-instantiate" } else { "instantiate" };
                match &i.what {
                    InstantiationTarget::Function(f) => format!("({head} {})", self.function(f)),
                    InstantiationTarget::Struct(n) => format!("({head} {})", self.path(n)),
                }
            }
        }
    }

    fn alias(&self, a: &Alias) -> String {
        format!("(alias{} {} {})", self.heads(&a.templates), self.name(a.name.name), self.ty(&a.ty))
    }

    fn record(&self, s: &StructDecl) -> String {
        let key = format!("{:?}", s.key).to_lowercase();
        let name = s.name.as_ref().map_or("_".to_owned(), |n| self.path(n));
        let align = s.align.as_ref().map_or(String::new(), |e| format!(" align({})", self.expr(e)));
        let bases: String = s
            .bases
            .iter()
            .map(|b| {
                let access = format!("{:?}", b.access).to_lowercase();
                format!(" :{access}-{}{}", self.path(&b.name), if b.pack { "..." } else { "" })
            })
            .collect();
        let heads = self.heads(&s.templates);
        if !s.complete {
            return format!("({key}{heads} {name})");
        }
        let members: String = s.members.iter().map(|m| format!(" {}", self.member(m))).collect();
        format!("({key}{heads}{align} {name}{bases} {{{members} }})")
    }

    fn member(&self, m: &Member) -> String {
        let access = match m.access {
            Access::Public => "",
            Access::Protected => "protected-",
            Access::Private => "private-",
        };
        let text = match &m.kind {
            MemberKind::Field(d) => self.declaration(d),
            MemberKind::Function(f) => self.function(f),
            MemberKind::Alias(a) => self.alias(a),
            MemberKind::Enum(e) => self.enumeration(e),
            MemberKind::Struct(s) => self.record(s),
            MemberKind::StaticAssert(a) => format!("(static_assert {})", self.expr(&a.cond)),
            MemberKind::Using(n) => format!("(using {})", self.path(n)),
            MemberKind::FriendFunction(f) => format!("(friend {})", self.function(f)),
            MemberKind::FriendType(t) => format!("(friend {})", self.ty(t)),
        };
        format!("{access}{text}")
    }

    fn enumeration(&self, e: &EnumDecl) -> String {
        let head = if e.scoped { "enum-class" } else { "enum" };
        let name = e.name.map_or("_", |n| self.name(n.name));
        let constants = self.list(&e.constants, |(n, v)| match v {
            Some(v) => format!("({} {})", self.name(n.name), self.expr(v)),
            None => self.name(n.name).to_owned(),
        });
        let under = e.underlying.as_ref().map_or(String::new(), |t| format!(" : {}", self.ty(t)));
        format!("({head} {name}{under} {constants})")
    }

    fn declaration(&self, d: &Declaration) -> String {
        let shared = if d.specs.shared { " shared" } else { "" };
        let align = d.align.as_ref().map_or(String::new(), |e| format!(" align({})", self.expr(e)));
        let vars = self.list(&d.vars, |v| {
            let init = v.init.as_ref().map_or(String::new(), |i| format!(" {}", self.init(i)));
            let bits = v.bits.as_ref().map_or(String::new(), |e| format!(" :{}", self.expr(e)));
            let name = v.qualified.as_ref().map_or(self.name(v.name.name).to_owned(), |n| self.path(n));
            format!("({name} {}{bits}{init})", self.ty(&v.ty))
        });
        format!("(var{shared}{align}{} {vars})", self.heads(&d.templates))
    }

    fn init(&self, init: &Init) -> String {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::Paren(args, _) => self.list(args, |e| self.expr(e)),
            Init::Designated(name, value) => format!(".{}={}", self.name(name.name), self.init(value)),
            Init::List(entries, _) => format!("[{}]", self.list(entries, |i| self.init(i))),
        }
    }

    fn path(&self, name: &Name) -> String {
        let parts = name.parts.iter().map(|part| {
            let mut out = self.name(part.ident.name).to_owned();
            if let Some(args) = &part.args {
                let args = args.iter().map(|a| {
                    let text = match &a.kind {
                        TemplateArgKind::Type(t) => format!("`{}", self.ty(t)),
                        TemplateArgKind::Expr(e) => self.expr(e),
                    };
                    text + if a.pack { "..." } else { "" }
                });
                out += &format!("<{}>", args.collect::<Vec<_>>().join(","));
            }
            out
        });
        let global = if name.global { "::" } else { "" };
        format!("{global}{}", parts.collect::<Vec<_>>().join("::"))
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.0.name(symbol)
    }

    fn ty(&self, ty: &TypeName) -> String {
        let mut out = match &ty.base {
            BaseType::Named(name) => self.path(name),
            BaseType::Decltype(e) => format!("decltype({})", self.expr(e)),
            BaseType::Struct(s) => self.record(s),
            base => format!("{base:?}").to_lowercase(),
        };
        if ty.is_const {
            out = format!("const-{out}");
        }
        if ty.is_volatile {
            out = format!("volatile-{out}");
        }
        for layer in &ty.layers {
            match layer {
                TypeLayer::Pointer { is_const, is_volatile, restrict } => {
                    out.push('*');
                    out.push_str(if *is_const { "const" } else { "" });
                    out.push_str(if *is_volatile { "volatile" } else { "" });
                    out.push_str(if *restrict { "restrict" } else { "" });
                }
                TypeLayer::Reference { rvalue } => out.push_str(if *rvalue { "&&" } else { "&" }),
                TypeLayer::Function(params) => out.push_str(&format!("({})", self.params(params).trim_start())),
                TypeLayer::Array(None) => out.push_str("[]"),
                TypeLayer::Array(Some(n)) => out.push_str(&format!("[{}]", self.expr(n))),
            }
        }
        out
    }

    fn compound(&self, c: &Compound) -> String {
        format!("{{ {} }}", self.list(&c.stmts, |s| self.stmt(s)))
    }

    fn stmt(&self, stmt: &Stmt) -> String {
        let optional = |e: &Option<Expr>| e.as_ref().map_or("_".to_owned(), |e| self.expr(e));
        match &stmt.kind {
            StmtKind::Empty => ";".to_owned(),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Declaration(d) => self.declaration(d),
            StmtKind::Binding(b) => {
                format!(
                    "(bind {} [{}] {})",
                    self.ty(&b.ty),
                    self.list(&b.names, |n| self.name(n.name).to_owned()),
                    self.expr(&b.init)
                )
            }
            StmtKind::Alias(a) => self.alias(a),
            StmtKind::Enum(e) => self.enumeration(e),
            StmtKind::Struct(s) => self.record(s),
            StmtKind::StaticAssert(a) => format!("(static_assert {})", self.expr(&a.cond)),
            StmtKind::UsingNamespace(n) => format!("(using-namespace {})", self.path(n)),
            StmtKind::UsingDecl(n) => format!("(using {})", self.path(n)),
            StmtKind::NamespaceAlias(a) => format!("(namespace {}={})", self.name(a.name.name), self.path(&a.target)),
            StmtKind::Compound(c) => self.compound(c),
            StmtKind::If { init, cond, then, els, is_constexpr } => {
                let init = init.iter().map(|s| format!("{} ; ", self.stmt(s))).collect::<String>();
                let word = if *is_constexpr { "if-constexpr" } else { "if" };
                let els = els.as_ref().map_or(String::new(), |s| format!(" {}", self.stmt(s)));
                format!("({word} {init}{} {}{els})", self.expr(cond), self.stmt(then))
            }
            StmtKind::While(c, b) => format!("(while {} {})", self.expr(c), self.stmt(b)),
            StmtKind::DoWhile(b, c) => format!("(do {} {})", self.stmt(b), self.expr(c)),
            StmtKind::For { init, cond, step, body } => {
                let init = init.as_ref().map_or("_".to_owned(), |s| self.stmt(s));
                format!("(for {init} {} {} {})", optional(cond), optional(step), self.stmt(body))
            }
            StmtKind::RangeFor { init, var, range, body } => {
                let init = init.as_ref().map_or(String::new(), |s| format!("{} ; ", self.stmt(s)));
                let names = self.list(&var.names, |n| self.name(n.name).to_owned());
                let names = if var.brackets { format!("[{names}]") } else { names };
                format!("(for {init}({names} {}) : {} {})", self.ty(&var.ty), self.expr(range), self.stmt(body))
            }
            StmtKind::Switch(v, b) => format!("(switch {} {})", self.expr(v), self.stmt(b)),
            StmtKind::Case(v, s) => format!("(case {} {})", self.expr(v), self.stmt(s)),
            StmtKind::Default(s) => format!("(default {})", self.stmt(s)),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Return(e) => format!("(return {})", optional(e)),
            StmtKind::Try(whole) => {
                let handler = |h: &Handler| {
                    let caught = h.param.as_ref().map_or("(...)".to_owned(), |p| self.params(std::slice::from_ref(p)));
                    format!("(catch {} {})", caught.trim_start(), self.compound(&h.body))
                };
                format!("(try {} {})", self.compound(&whole.body), self.list(&whole.handlers, handler))
            }
        }
    }

    fn lambda(&self, l: &Lambda) -> String {
        let mode = |m: &CaptureMode| if *m == CaptureMode::Copy { "=" } else { "&" };
        let mut captures: Vec<String> = l.default_capture.iter().map(|m| mode(m).to_owned()).collect();
        captures.extend(l.captures.iter().map(|c| {
            let text = match &c.kind {
                CaptureKind::Variable(m, n) => format!("{}{}", mode(m), self.name(n.name)),
                CaptureKind::Init(m, n, init) => format!("{}{}:{}", mode(m), self.name(n.name), self.init(init)),
                CaptureKind::This(m) => format!("{}this", mode(m)),
            };
            text + if c.pack { "..." } else { "" }
        }));
        let template = l.template.as_ref().map_or(String::new(), |h| self.head(h));
        let device = if l.specs.device { " device" } else { "" };
        let mutable = if l.is_mutable { " mutable" } else { "" };
        let ret = l.ret.as_ref().map_or(String::new(), |t| format!(" -> {}", self.ty(t)));
        let params = self.params(&l.params);
        format!("(lambda [{}]{template}{device}{mutable}{params}{ret} {})", captures.join(" "), self.compound(&l.body))
    }

    /// An expression.
    pub fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Literal(l) => match l {
                Literal::Int(v, IntSuffix::Int) => v.to_string(),
                Literal::Int(v, ty) => format!("{v}:{ty:?}"),
                Literal::Float(v) => format!("{v:?}f"),
                Literal::Double(v) => format!("{v:?}"),
                Literal::Char(v) => format!("'{v}'"),
                Literal::Bool(v) => v.to_string(),
                Literal::Nullptr => "nullptr".to_owned(),
            },
            ExprKind::Str(s) => format!("{s:?}"),
            ExprKind::Name(name) => self.path(name),
            ExprKind::This => "this".to_owned(),
            ExprKind::Unary(op, e) => format!("({op:?} {})", self.expr(e)),
            ExprKind::Binary(op, a, b, _) => format!("({op:?} {} {})", self.expr(a), self.expr(b)),
            ExprKind::Assign(None, a, b) => format!("(= {} {})", self.expr(a), self.expr(b)),
            ExprKind::Assign(Some(op), a, b) => format!("({op:?}= {} {})", self.expr(a), self.expr(b)),
            ExprKind::Conditional(c, a, b) => format!("(? {} {} {})", self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::Call(f, args) => format!("(call {} {})", self.expr(f), self.list(args, |e| self.expr(e))),
            ExprKind::Launch { callee, config, args } => {
                let config = self.list(config, |e| self.expr(e));
                format!("(launch {} [{config}] {})", self.expr(callee), self.list(args, |e| self.expr(e)))
            }
            ExprKind::Index(a, i) => format!("(at {} {})", self.expr(a), self.expr(i)),
            ExprKind::Member { object, member, arrow } => {
                format!("{}{}{}", self.expr(object), if *arrow { "->" } else { "." }, self.path(member))
            }
            ExprKind::Cast { kind, ty, operand } => format!("({kind:?} {} {})", self.ty(ty), self.expr(operand)),
            ExprKind::Construct { ty, args } => match args.as_slice() {
                [] => format!("(Functional {} _)", self.ty(ty)),
                _ => format!("(Functional {} {})", self.ty(ty), self.list(args, |e| self.expr(e))),
            },
            ExprKind::Braced { ty, entries } => {
                let ty = ty.as_ref().map_or("_".to_owned(), |t| self.ty(t));
                format!("(Braced {ty} {})", self.list(entries, |i| self.init(i)))
            }
            ExprKind::Lambda(l) => self.lambda(l),
            ExprKind::SizeofType(t) => format!("(sizeof-type {})", self.ty(t)),
            ExprKind::SizeofExpr(e) => format!("(sizeof {})", self.expr(e)),
            ExprKind::SizeofPack(n) => format!("(sizeof... {})", self.name(n.name)),
            ExprKind::AlignofType(t) => format!("(alignof {})", self.ty(t)),
            ExprKind::Noexcept(e) => format!("(noexcept {})", self.expr(e)),
            ExprKind::PackExpansion(e) => format!("{}...", self.expr(e)),
            ExprKind::Fold { op, left, right } => {
                let op = match op {
                    FoldOp::Binary(op) => format!("{op:?}"),
                    FoldOp::Assign(Some(op)) => format!("{op:?}="),
                    FoldOp::Assign(None) => "=".to_owned(),
                };
                let side = |e: &Option<Box<Expr>>| e.as_ref().map_or("_".to_owned(), |e| self.expr(e));
                format!("(fold {op} {} {})", side(left), side(right))
            }
            ExprKind::Paren(e) => format!("[{}]", self.expr(e)),
            ExprKind::Error => "error".to_owned(),
        }
    }
}
