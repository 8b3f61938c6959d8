//! Statements.

use super::declared_names::NameKind;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Binding, Compound, Declaration, Expr, ExprKind, Ident, Item, Specifiers, Stmt, StmtKind, TypeLayer, TypeName,
};
use crate::front::lexer::{Flags, Keyword as K, TokenKind as T};
use crate::front::spelling::nearest;
use crate::source::Span;

/// One `if` of an `else if` chain.
struct Link {
    init: Vec<Stmt>,
    cond: Expr,
    then: Box<Stmt>,
    is_constexpr: bool,
    start: Span,
}

impl Parser<'_> {
    /// compound-statement.
    #[inline(never)]
    pub(super) fn compound(&mut self) -> PResult<Compound> {
        self.nested_by(2, Self::block)
    }

    fn block(&mut self) -> PResult<Compound> {
        let start = self.bump().span;
        self.names.open();
        let mut stmts = Vec::new();
        loop {
            match self.kind() {
                T::RBrace => {
                    self.bump();
                    break;
                }
                T::Eof => break,
                // A kernel cannot start inside a function: the missing brace has been reported.
                T::Keyword(K::Global) if self.unbalanced => break,
                _ => {
                    let (start, mark) = (self.pos, self.names.mark());
                    let span = self.peek().span;
                    if self.block_item(&mut stmts).is_err() {
                        self.skip_statement(start, mark);
                        stmts.push(self.error_stmt(span));
                    }
                    if self.pos == start {
                        self.bump();
                    }
                }
            }
        }
        self.names.close();
        Ok(Compound { stmts, span: self.since(start) })
    }

    /// A statement that has been reported: later stages see that something is missing.
    fn error_stmt(&self, start: Span) -> Stmt {
        let span = self.since(start);
        Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Error, span }), span }
    }

    /// Takes a misspelt keyword at the start of a statement for what was meant, where nothing else makes sense of it: the name is
    /// declared nowhere, and what follows is neither an expression's end nor its middle.
    fn misspelt_statement(&mut self) {
        let (at, token) = (self.pos, self.peek());
        if token.kind != T::Ident || self.names.kind(token.symbol, self.interner) != NameKind::Free {
            return;
        }
        let words: &[&str] = match self.kind_at(1) {
            T::Semi => &["return", "break", "continue"],
            T::Ident => &["return", "else"],
            T::Number | T::Keyword(K::True | K::False | K::Nullptr | K::Sizeof) => &["return"],
            T::Keyword(K::If) => &["else"],
            T::LBrace => &["else", "do"],
            T::LParen => match self.bracket_end(self.pos + 1).map(|end| self.at_index(end + 1)) {
                Some(next) if next.kind == T::LBrace => &["while", "for", "if", "switch"],
                // On a line of its own the next statement follows, and only a `;` is missing.
                Some(next) if matches!(next.kind, T::Ident | T::Number) && !next.flags.has(Flags::LINE_START) => {
                    &["while", "for", "if"]
                }
                _ => return,
            },
            T::Colon => &["default"],
            _ => return,
        };
        let name = self.interner.name(token.symbol);
        let Some(word) = nearest(name, words.iter()) else { return };
        let message = format!("unknown name `{name}`; the nearest statement is `{word}`");
        let diag = Diagnostic::error(Code::UnknownName, token.span, message).help(format!("write `{word}`"));
        self.report(diag.replacement(token.span, word.as_str()));
        // The rest is read as if it stood there.
        self.tokens[at].kind = T::of_word(&word);
    }

    /// A statement or declaration of a block. Labels of `switch` keep only an ordinary statement to themselves.
    #[inline(never)]
    pub(super) fn block_item(&mut self, out: &mut Vec<Stmt>) -> PResult<()> {
        self.misspelt_statement();
        if matches!(self.kind(), T::Keyword(K::Case | K::Default)) {
            let stmt = self.switch_label(true)?;
            out.push(stmt);
            return Ok(());
        }
        if !self.starts_declaration(self.pos) {
            let stmt = self.statement()?;
            out.push(stmt);
            return Ok(());
        }
        self.declaration_statement(out)
    }

    #[inline(never)] // Its frame is large, and blocks nest through its caller.
    fn declaration_statement(&mut self, out: &mut Vec<Stmt>) -> PResult<()> {
        let start = self.peek().span;
        if self.binding_at(self.pos) {
            let binding = self.binding()?;
            self.expect_semi("this declaration")?;
            out.push(Stmt { kind: StmtKind::Binding(binding), span: self.since(start) });
            return Ok(());
        }
        if self.at_word(K::Template) {
            let text = "templates inside functions are not supported";
            return Err(self.unsupported(start, text, "declare it outside, or write a lambda with `auto` parameters"));
        }
        let mut items = Vec::new();
        self.declaration(&mut items)?;
        let span = self.since(start);
        if items.is_empty() {
            // Reported and left out, or without effect.
            out.push(Stmt { kind: StmtKind::Empty, span });
        }
        for item in items {
            let kind = match item {
                Item::Variables(declaration) => StmtKind::Declaration(declaration),
                Item::Alias(alias) => StmtKind::Alias(alias),
                Item::Enum(decl) => StmtKind::Enum(decl),
                Item::StaticAssert(assertion) => StmtKind::StaticAssert(assertion),
                Item::Function(func) if func.body.is_none() => {
                    self.ahead.push(Item::Function(func));
                    continue;
                }
                Item::Function(func) => {
                    let text = "a function is defined inside a function";
                    self.unsupported(func.span, text, "define it before the function that calls it, or write a lambda");
                    self.unit.skipped.insert(func.name.last().name);
                    continue;
                }
                Item::Struct(decl) => StmtKind::Struct(decl),
                Item::UsingNamespace(name) => StmtKind::UsingNamespace(name),
                Item::UsingDecl(name) => StmtKind::UsingDecl(name),
                Item::NamespaceAlias(alias) => StmtKind::NamespaceAlias(alias),
                Item::Namespace(_) | Item::Instantiate(_) => continue,
            };
            out.push(Stmt { kind, span });
        }
        Ok(())
    }

    /// `auto [a, b] = e`
    pub(super) fn binding(&mut self) -> PResult<Binding> {
        let start = self.peek().span;
        let (specs, ty, names) = self.binding_head()?;
        for name in &names {
            self.names.declare(name.name, NameKind::Value);
        }
        let open = self.peek().span;
        let init = match self.kind() {
            T::Assign => {
                self.bump();
                self.argument_value()?
            }
            T::LParen | T::LBrace => {
                let close = if self.bump().kind == T::LParen { T::RParen } else { T::RBrace };
                let init = self.unangled(Self::assignment_expr)?;
                if close == T::RBrace && !self.at(T::RBrace) {
                    return Err(self.expected("`}`"));
                }
                self.expect_close(close, open)?;
                init
            }
            _ => return Err(self.expected("`=`")),
        };
        Ok(Binding { specs, ty, names, init, span: self.since(start) })
    }

    /// `const auto& [a, b]`
    pub(super) fn binding_head(&mut self) -> PResult<(Specifiers, TypeName, Vec<Ident>)> {
        let specs = self.decl_specifiers()?;
        let mut layers = Vec::new();
        if matches!(self.kind(), T::Amp | T::AmpAmp) {
            layers.push(TypeLayer::Reference { rvalue: self.bump().kind == T::AmpAmp });
        }
        let ty = specs.with(layers, self.prev());
        let open = self.expect(T::LBracket)?;
        let mut names = Vec::new();
        loop {
            names.push(self.ident("the name of a variable")?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::RBracket, open)?;
        Ok((specs.specs, ty, names))
    }

    /// `case value:` or `default:` with what follows. In a block (`lone`) another label, a declaration or the block's end
    /// follows as a statement of its own.
    #[inline(never)]
    fn switch_label(&mut self, lone: bool) -> PResult<Stmt> {
        let start = self.bump();
        let value = if start.kind == T::Keyword(K::Case) {
            let value = self.assignment_expr()?;
            if self.at(T::Ellipsis) {
                let span = self.peek().span;
                let text = "ranges of cases are not supported";
                return Err(self.unsupported(span, text, "write each value, or an `if`"));
            }
            Some(value)
        } else {
            None
        };
        self.expect(T::Colon)?;
        let span = self.since(start.span);
        let alone = lone
            && (matches!(self.kind(), T::Keyword(K::Case | K::Default) | T::RBrace | T::Eof)
                || self.starts_declaration(self.pos));
        let body =
            Box::new(if alone { Stmt { kind: StmtKind::Empty, span } } else { self.nested_by(2, Self::statement)? });
        let kind = match value {
            Some(value) => StmtKind::Case(value, body),
            None => StmtKind::Default(body),
        };
        Ok(Stmt { kind, span: self.since(start.span) })
    }

    /// A statement that is the body of another; a declaration gets a scope of its own.
    pub(super) fn body(&mut self) -> PResult<Box<Stmt>> {
        if matches!(self.kind(), T::RBrace | T::Eof) {
            return Err(self.expected("a statement"));
        }
        self.misspelt_statement();
        if !self.starts_declaration(self.pos) {
            return Ok(Box::new(self.nested_by(2, Self::statement)?));
        }
        let start = self.peek().span;
        let mut stmts = Vec::new();
        self.names.open();
        let result = self.nested_by(2, |p| p.block_item(&mut stmts));
        self.names.close();
        result?;
        let span = self.since(start);
        Ok(Box::new(Stmt { kind: StmtKind::Compound(Compound { stmts, span }), span }))
    }

    /// statement, declarations apart.
    fn statement(&mut self) -> PResult<Stmt> {
        let start = self.peek();
        let kind = match start.kind {
            T::LBrace => StmtKind::Compound(self.compound()?),
            T::Semi => {
                self.bump();
                StmtKind::Empty
            }
            T::Keyword(word) => match word {
                K::If => return self.if_statement(),
                K::While => self.while_statement()?,
                K::Do => self.do_statement()?,
                K::For => self.for_statement()?,
                K::Switch => self.switch_statement()?,
                K::Case | K::Default => return self.switch_label(false),
                K::Break => {
                    self.bump();
                    self.expect_semi("`break`")?;
                    StmtKind::Break
                }
                K::Continue => {
                    self.bump();
                    self.expect_semi("`continue`")?;
                    StmtKind::Continue
                }
                K::Return => self.return_statement()?,
                K::Else => {
                    let text = "`else` without an `if` before it";
                    self.report(Diagnostic::error(Code::Syntax, start.span, text));
                    self.bump();
                    return self.nested_by(2, Self::statement);
                }
                K::Catch => {
                    self.report(Diagnostic::error(Code::Syntax, start.span, "`catch` without a `try` before it"));
                    self.handler()?;
                    return Ok(self.error_stmt(start.span));
                }
                K::Attribute => {
                    self.skip_attributes();
                    return self.nested_by(2, Self::statement);
                }
                K::Try => self.try_statement()?,
                K::Goto | K::Asm => {
                    self.unsupported_statement(word);
                    return Ok(self.error_stmt(start.span));
                }
                _ => self.expression_statement()?,
            },
            T::LBracket if self.kind_at(1) == T::LBracket => {
                // `[[fallthrough]];` and hints.
                self.skip_brackets();
                return self.nested_by(2, Self::statement);
            }
            T::Ident if self.kind_at(1) == T::Colon => {
                let text = "labels are not supported";
                self.unsupported(start.span, text, "write a loop with `break` and `continue`, or a flag");
                self.bump();
                self.bump();
                return Ok(self.error_stmt(start.span));
            }
            _ => self.expression_statement()?,
        };
        Ok(Stmt { kind, span: self.since(start.span) })
    }

    /// expression-statement.
    #[inline(never)]
    fn expression_statement(&mut self) -> PResult<StmtKind> {
        let expr = self.expression()?;
        self.expect_semi("this statement")?;
        Ok(StmtKind::Expr(expr))
    }

    /// `if`, its `else if` chain without recursion.
    #[inline(never)]
    fn if_statement(&mut self) -> PResult<Stmt> {
        let mut links = Vec::new();
        let depth = self.depth;
        let tail = self.if_chain(&mut links);
        for _ in depth..self.depth {
            self.names.close();
        }
        self.depth = depth;
        let mut els = tail?.map(Box::new);
        let end = self.prev();
        while let Some(link) = links.pop() {
            let Link { init, cond, then, is_constexpr, start } = link;
            let kind = StmtKind::If { init, cond, then, els, is_constexpr };
            els = Some(Box::new(Stmt { kind, span: start.to(end) }));
        }
        match els {
            Some(stmt) => Ok(*stmt),
            None => Err(self.expected("`if`")),
        }
    }

    /// The links of a chain; the last `else`. Each link opens a level and a scope, which the caller closes.
    fn if_chain(&mut self, links: &mut Vec<Link>) -> PResult<Option<Stmt>> {
        loop {
            let start = self.bump().span;
            self.enter()?;
            self.names.open();
            let is_constexpr = self.eat_word(K::Constexpr);
            let (init, cond) = self.condition()?;
            let then = self.body()?;
            links.push(Link { init, cond, then, is_constexpr, start });
            self.misspelt_statement();
            if !self.eat_word(K::Else) {
                return Ok(None);
            }
            if !self.at_word(K::If) {
                return Ok(Some(*self.body()?));
            }
        }
    }

    /// `( [init;] condition )`: the declarations before the `;` and in the condition itself, and what is tested.
    pub(super) fn condition(&mut self) -> PResult<(Vec<Stmt>, Expr)> {
        let open = self.expect(T::LParen)?;
        let mut init = Vec::new();
        let mut cond = None;
        if self.starts_declaration(self.pos) {
            let (decl, name) = self.condition_declaration()?;
            init.extend(decl);
            if !self.eat(T::Semi) {
                cond = Some(self.tested(name)?);
            }
        } else {
            let expr = if self.at(T::Semi) { None } else { Some(self.expression()?) };
            if self.at(T::Semi) && self.bracket_end_is_ahead() {
                self.bump();
                init.extend(expr.map(|e| Stmt { span: e.span, kind: StmtKind::Expr(e) }));
            } else {
                cond = expr;
            }
        }
        let cond = match cond {
            Some(cond) => cond,
            None if self.starts_declaration(self.pos) => {
                let (decl, name) = self.condition_declaration()?;
                init.extend(decl);
                self.tested(name)?
            }
            None => self.expression()?,
        };
        self.expect_close(T::RParen, open)?;
        Ok((init, cond))
    }

    /// The variable that a condition declares, as what it tests.
    fn tested(&mut self, name: Option<Ident>) -> PResult<Expr> {
        match name {
            Some(name) => Ok(self.leaf(ExprKind::Name(name.into()), name.span)),
            None => Err(self.expected("`;`")),
        }
    }

    /// A `)` closes before the next `;` or brace: the `;` here then belongs to a condition.
    fn bracket_end_is_ahead(&self) -> bool {
        let mut depth = 0usize;
        for index in self.pos + 1..self.tokens.len() {
            match self.at_index(index).kind {
                T::LParen => depth += 1,
                T::RParen if depth == 0 => return true,
                T::RParen => depth -= 1,
                T::Semi | T::LBrace | T::RBrace | T::Eof => return false,
                _ => {}
            }
        }
        false
    }

    /// A declaration in a condition, and the last name it declares, if that can be tested.
    #[inline(never)]
    fn condition_declaration(&mut self) -> PResult<(Vec<Stmt>, Option<Ident>)> {
        let start = self.peek().span;
        if self.binding_at(self.pos) {
            let binding = self.binding()?;
            return Ok((vec![Stmt { kind: StmtKind::Binding(binding), span: self.since(start) }], None));
        }
        if matches!(self.kind(), T::Keyword(K::Using | K::Typedef)) {
            let text = "only a variable can be declared in a condition";
            return Err(self.unsupported(start, text, "declare it before the statement"));
        }
        let specs = self.decl_specifiers()?;
        let mut vars = Vec::new();
        loop {
            let declarator = self.declarator(true)?;
            vars.push(self.variable(&specs, declarator)?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        let name = vars.last().map(|v| v.name);
        let span = self.since(start);
        let decl = Declaration { templates: Vec::new(), specs: specs.specs, align: specs.align, vars, span };
        Ok((vec![Stmt { kind: StmtKind::Declaration(decl), span }], name))
    }

    /// `switch ( [init;] value ) body`
    #[inline(never)]
    fn switch_statement(&mut self) -> PResult<StmtKind> {
        let start = self.bump().span;
        self.names.open();
        let head = self.condition();
        let body = head.and_then(|head| Ok((head, self.body()?)));
        self.names.close();
        let ((init, value), body) = body?;
        let switch = StmtKind::Switch(value, body);
        if init.is_empty() {
            return Ok(switch);
        }
        // A declaration before the value is one in a block around the statement.
        let span = self.since(start);
        let mut stmts = init;
        stmts.push(Stmt { kind: switch, span });
        Ok(StmtKind::Compound(Compound { stmts, span }))
    }

    /// `return [expr] ;`
    #[inline(never)]
    fn return_statement(&mut self) -> PResult<StmtKind> {
        self.bump();
        let value = match self.kind() {
            T::Semi | T::RBrace => None,
            T::LBrace => Some(self.argument_value()?),
            _ => Some(self.expression()?),
        };
        self.expect_semi("`return`")?;
        Ok(StmtKind::Return(value))
    }
}
