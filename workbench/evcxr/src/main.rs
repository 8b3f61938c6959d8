//! The session of a Rust notebook: evcxr, driven by lines of JSON. Requests come on the standard input, answers go to the standard output.
//! Each is an object with one field, whose name says what it is.
//!
//! The notebook's kernel (`kernel.py`) speaks Jupyter's protocol and starts this program through `session.py`.

mod output;
mod protocol;
mod render;
mod stop;

use std::io::BufRead as _;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use evcxr::{CommandContext, EvalCallbacks};

use output::{End, Output};
use protocol::{Answer, Request, answer};
use stop::Running;

fn main() {
    // This program is also the process that runs the cells; it must not end when it is told to stop before a cell has used Workbench.
    stop::ignore_signals();
    if std::env::var_os("EVCXR_IS_RUNTIME").is_some() {
        // evcxr asks for backtraces, in which there is nothing of the cell but one name that it made.
        // SAFETY: there is one thread yet.
        unsafe { std::env::set_var("RUST_BACKTRACE", "0") };
        stop::end_with_parent();
    }
    evcxr::runtime_hook();
    let Err(error) = serve();
    answer(&Answer::Failed { message: error });
    std::process::exit(1);
}

/// Answers requests until the standard input ends, and the process with it.
fn serve() -> Result<std::convert::Infallible, String> {
    let (mut context, outputs) = CommandContext::new().map_err(|e| e.to_string())?;
    context.execute(":load_config --quiet").map_err(|e| e.to_string())?;
    let running = Arc::new(Running::new(context.process_handle()));
    let output = Output::forward(outputs, context.process_handle());
    let (work, jobs) = channel();
    let (given, input) = channel();
    {
        let running = Arc::clone(&running);
        std::thread::spawn(move || {
            let work = AssertUnwindSafe(|| work_through(&mut context, &jobs, &input, &running, &output));
            // A panic of evcxr or of the analysis ends the session: nobody would answer any more.
            if std::panic::catch_unwind(work).is_err() {
                answer(&Answer::Failed { message: "evcxr panicked".to_owned() });
                running.leave();
                std::process::exit(1);
            }
        });
    }
    answer(&Answer::Ready {});
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        match serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))? {
            Request::Stop {} => running.stop(),
            Request::Input { value } => drop(given.send(value)),
            request => {
                if matches!(request, Request::Execute { .. }) {
                    running.sent();
                }
                drop(work.send(request));
            }
        }
    }
    // Nobody listens any more: what still runs is of no use.
    running.leave();
    std::process::exit(0)
}

/// Answers the requests that need the context, one after the other.
fn work_through(
    context: &mut CommandContext,
    jobs: &Receiver<Request>,
    input: &Receiver<String>,
    running: &Running,
    output: &Output,
) {
    for request in jobs {
        match request {
            Request::Execute { id, code } => {
                if !running.begin() {
                    answer(&render::stopped(id));
                    continue;
                }
                let callbacks = &mut EvalCallbacks {
                    input_reader: &|wanted| {
                        answer(&Answer::Input { prompt: wanted.prompt, password: wanted.is_password });
                        input.recv().unwrap_or_default()
                    },
                };
                let result = context.execute_with_callbacks(&code, callbacks);
                let stopped = running.end();
                let end = output.flush();
                match (end, &result) {
                    // Whatever the cell showed before its error stays.
                    (Some(end @ End::Error(..)), Ok(output)) => {
                        if !output.is_empty() {
                            answer(&Answer::Display { data: output.content_by_mime_type.clone() });
                        }
                        answer(&render::ended(id, &end, stopped));
                        continue;
                    }
                    (Some(end @ End::Panic(_)), Ok(output)) if output.is_empty() => {
                        answer(&render::ended(id, &end, stopped));
                        continue;
                    }
                    // A panic that the cell caught, or the reason why its process ended.
                    (Some(End::Panic(text) | End::Error(_, text)), _) => {
                        answer(&Answer::Stream { name: "stderr", text })
                    }
                    (None, _) => {}
                }
                match result {
                    Ok(output) => answer(&Answer::Done { id, data: output.content_by_mime_type, stopped }),
                    Err(error) => answer(&render::error(id, &error, &code, stopped)),
                }
            }
            Request::Complete { id, code, at } => {
                let found = context.completions(&code, byte_offset(&code, at)).unwrap_or_default();
                answer(&Answer::completions(id, &code, found));
            }
            Request::Inspect { id, code, at } => {
                let found = context.hover_at(&code, byte_offset(&code, at)).ok();
                let found = found.filter(|(plain, _)| plain != "No documentation found");
                answer(&Answer::Inspected { id, found });
            }
            Request::Stop {} | Request::Input { .. } => {}
        }
    }
}

/// The byte at which a character begins.
fn byte_offset(code: &str, at: usize) -> usize {
    code.char_indices().nth(at).map_or(code.len(), |(byte, _)| byte)
}

/// A lock whose holder may have panicked.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
