//! The output of cells, passed on as it comes. A panic of the cell's own thread is kept instead, and so is an error that Workbench tells: it is the
//! cell's error.

use std::process::Child;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select, unbounded};
use evcxr::EvalContextOutputs;

use crate::locked;
use crate::protocol::{Answer, Told, answer};

/// The time without a line after which the errors of a cell are complete: they come through a pipe of their own.
const QUIET: Duration = Duration::from_millis(10);

/// The time after which the output of a cell counts as complete although lines still come.
const LONGEST: Duration = Duration::from_millis(200);

/// Lines that are passed on as one piece of text, at most.
const PIECE: usize = 1000;

/// The end of a cell by its own doing.
pub enum End {
    /// A panic, with its message.
    Panic(String),
    /// An error of Workbench's, with its name and text.
    Error(String, String),
}

/// The way to the thread that passes output on.
pub struct Output {
    flush: crossbeam_channel::Sender<Sender<Option<End>>>,
}

impl Output {
    /// Begins to pass on the lines of `outputs`, which the process of the cells writes.
    pub fn forward(outputs: EvalContextOutputs, process: Arc<Mutex<Child>>) -> Self {
        let (flush, flushed) = unbounded::<Sender<Option<End>>>();
        std::thread::spawn(move || {
            let EvalContextOutputs { stdout, stderr } = outputs;
            let mut lines = Lines { process, end: None, empty: 0 };
            loop {
                select! {
                    recv(stdout) -> line => { let Ok(line) = line else { return }; lines.output(line, &stdout) }
                    recv(stderr) -> line => { let Ok(line) = line else { return }; lines.line(line) }
                    recv(flushed) -> done => {
                        let Ok(done) = done else { return };
                        // A thread of the cell may go on writing.
                        let begin = Instant::now();
                        // All lines of its output are there: evcxr has read its end behind them.
                        while let Ok(line) = stdout.try_recv() {
                            lines.output(line, &stdout);
                        }
                        while begin.elapsed() < LONGEST {
                            select! {
                                recv(stdout) -> line => { let Ok(line) = line else { return }; lines.output(line, &stdout) }
                                recv(stderr) -> line => { let Ok(line) = line else { return }; lines.line(line) }
                                default(QUIET) => break,
                            }
                        }
                        lines.empty = 0;
                        let _ = done.send(lines.end.take());
                    }
                }
            }
        });
        Output { flush }
    }

    /// Waits until the output of the cell that ended was passed on; how it ended, if it did not end well.
    pub fn flush(&self) -> Option<End> {
        let (done, wait) = channel();
        self.flush.send(done).ok()?;
        wait.recv().ok()?
    }
}

/// The lines of a cell's process, and how they end the cell.
struct Lines {
    process: Arc<Mutex<Child>>,
    /// The end of the cell: the message of a panic of its own thread grows from its first line on.
    end: Option<End>,
    /// Empty lines that were not passed on yet: one comes before a panic's first line.
    empty: usize,
}

impl Lines {
    /// A line of the standard output, with those that wait behind it.
    fn output(&mut self, line: String, more: &Receiver<String>) {
        let mut text = String::new();
        for line in std::iter::once(line).chain(more.try_iter().take(PIECE)) {
            let Some((before, told)) = Told::of(&line) else {
                text.push_str(&line);
                text.push('\n');
                continue;
            };
            text.push_str(before);
            if !before.is_empty() {
                text.push('\n');
            }
            if !text.is_empty() {
                answer(&Answer::Stream { name: "stdout", text: std::mem::take(&mut text) });
            }
            match told {
                Told::Progress { line, html } => answer(&Answer::Progress { line, html }),
                Told::Display { plain, html } => {
                    let data = [("text/plain".to_owned(), plain), ("text/html".to_owned(), html)];
                    answer(&Answer::Display { data: data.into() });
                }
                Told::Error { name, text } => self.end = Some(End::Error(name, text)),
            }
        }
        if !text.is_empty() {
            answer(&Answer::Stream { name: "stdout", text });
        }
    }

    /// A line of the error stream.
    fn line(&mut self, line: String) {
        if let Some(End::Panic(panic)) = &mut self.end {
            if !line.starts_with("note: run with `RUST_BACKTRACE") {
                panic.push_str(&line);
                panic.push('\n');
            }
        } else if line.is_empty() {
            self.empty += 1;
        } else if self.begins_panic(&line) {
            self.empty = 0;
            self.end = Some(End::Panic(String::new()));
        } else {
            let text = "\n".repeat(std::mem::take(&mut self.empty)) + &line + "\n";
            answer(&Answer::Stream { name: "stderr", text });
        }
    }

    /// True for `thread 'main' (1234) panicked at src/lib.rs:1:2:` of the process's first thread, whose number is the process's own.
    fn begins_panic(&self, line: &str) -> bool {
        let own = format!(" ({}) panicked at ", locked(&self.process).id());
        line.starts_with("thread '") && line.contains(&own)
    }
}
