//! Barriers and collectives of fibers: which threads wait where, and the results they get when all are there.
//!
//! A collective joins the lanes that its mask names and that have not left the kernel, wherever in the text each of them calls it: the same
//! operation with the same mask, as PTX says of `.sync`. A barrier joins all threads of the block, at one place.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::{Fibers, ThreadState, at, span};
use crate::back::cpu::abi::masks::LANES;
use crate::back::cpu::abi::site::{Joined, SiteKind};
use crate::back::cpu::run::block_sync::{combine, index_of, show, shuffle};
use crate::back::cpu::run::launch::{Launch, Running};
use crate::back::{FaultKind, RawFault};
use crate::ir::Collective;
use crate::source::Span;

/// The operation of a site that joins threads.
fn joined(launch: &Launch<'_>, site: u64) -> Option<Joined> {
    match &launch.site(site)?.kind {
        SiteKind::Join(join) => Some(join.op),
        _ => None,
    }
}

/// True if two lanes at these call the same operation. The signedness of a shuffled number does not count.
fn alike(a: Joined, b: Joined) -> bool {
    match (a, b) {
        (Joined::Collective(Collective::Shfl(a), size, _), Joined::Collective(Collective::Shfl(b), other, _)) => {
            a == b && size == other
        }
        _ => a == b,
    }
}

fn joins_block(op: Joined) -> bool {
    match op {
        Joined::Barrier => true,
        Joined::Collective(op, ..) => op.is_block(),
    }
}

fn name(op: Joined) -> &'static str {
    match op {
        Joined::Barrier => "__syncthreads",
        Joined::Collective(op, ..) => op.c_name(),
    }
}

/// An operand of a waiting thread.
///
/// # Safety
/// The thread waits with so many operands.
unsafe fn operand(words: *mut u64, k: usize) -> u64 {
    // SAFETY: the caller's promise; the thread's stack is there as long as it waits.
    unsafe { *words.add(k) }
}

/// A thread's question which threads are together: its site, and the round of each loop around it that is counted.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    site: u64,
    loops: &'a [(u32, Option<Span>)],
    rounds: SmallVec<[u64; 4]>,
}

/// The order in which one thread would come by: earlier rounds of a loop around both first, then the site that is first in the
/// text.
impl Ord for Asked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ways = self.loops.iter().zip(&self.rounds).zip(other.loops.iter().zip(&other.rounds));
        let common = ways.take_while(|((a, _), (b, _))| a.0 == b.0);
        let rounds = common.map(|((_, a), (_, b))| a.cmp(b)).find(|order| order.is_ne());
        rounds.unwrap_or_else(|| self.site.cmp(&other.site))
    }
}

impl PartialOrd for Asked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Fibers {
    /// The site, the operation and the operands that a waiting thread waits at.
    fn waiting(&self, launch: &Launch<'_>, t: usize) -> Option<(u64, Joined, *mut u64)> {
        match self.threads.get(t)?.state {
            ThreadState::Waits(site, words) => Some((site, joined(launch, site)?, words)),
            _ => None,
        }
    }

    /// The mask that a waiting lane names.
    fn named(&self, launch: &Launch<'_>, t: usize) -> Option<(Joined, u32, *mut u64)> {
        let (_, op, words) = self.waiting(launch, t)?;
        let has_mask = !joins_block(op) && !matches!(op, Joined::Collective(Collective::ActiveMask, ..));
        // SAFETY: the first operand of a warp's collective is its mask.
        has_mask.then(|| (op, unsafe { operand(words, 0) } as u32, words))
    }

    /// Lets a thread go on; its call has that result.
    fn release(&mut self, t: usize, result: Option<u64>) {
        let ThreadState::Waits(_, words) = self.threads[t].state else { return };
        if let Some(result) = result {
            // SAFETY: there is room for a result.
            unsafe { *words = result };
        }
        self.threads[t].state = ThreadState::Ready(0);
    }

    /// Notes that a thread has come to its site, and releases the threads that are complete now.
    pub(super) fn arrive(
        &mut self,
        launch: &Launch<'_>,
        ctx: &mut Running,
        t: usize,
        site: u64,
    ) -> Result<(), Box<RawFault>> {
        let Some(op) = joined(launch, site) else { return Ok(()) };
        if joins_block(op) {
            self.joining += 1;
            self.join_block(launch);
        } else if let Some((_, mask, _)) = self.named(launch, t) {
            let lane = t % LANES;
            if mask >> lane & 1 == 0 {
                let detail =
                    format!("the mask {mask:#010x} of `{}` does not name lane {lane}, which calls it", name(op));
                return Err(Box::new(at(launch, ctx, t, FaultKind::CollectiveMismatch, site, detail)));
            }
            self.join_warp(launch, t);
        }
        Ok(())
    }

    /// Notes that a thread has left the kernel: others may have waited for that.
    pub(super) fn left(&mut self, launch: &Launch<'_>, t: usize) {
        let first = t / LANES * LANES;
        (first..first + LANES).for_each(|t| self.join_warp(launch, t));
        self.join_block(launch);
    }

    /// Lets the block go on if all its threads are at one barrier.
    fn join_block(&mut self, launch: &Launch<'_>) {
        if self.joining == 0 || self.joining + self.gone < self.threads.len() {
            return;
        }
        let at: Vec<usize> = (0..self.threads.len()).filter(|t| self.waiting(launch, *t).is_some()).collect();
        let sites = || at.iter().filter_map(|t| self.waiting(launch, *t));
        let Some((site, op, _)) = sites().next() else { return };
        if sites().any(|(other, ..)| other != site) {
            return;
        }
        let result = match op {
            Joined::Barrier => None,
            Joined::Collective(op, ..) => {
                // SAFETY: the operand is the predicate.
                let count = sites().filter(|(.., words)| unsafe { operand(*words, 0) } as u8 != 0).count();
                Some(match op {
                    Collective::SyncAnd => u64::from(count == at.len()),
                    Collective::SyncOr => u64::from(count > 0),
                    _ => count as u64,
                })
            }
        };
        self.joining = 0;
        at.into_iter().for_each(|t| self.release(t, result));
    }

    /// Lets a lane, and the lanes that wait with it, go on if all that its mask names are there.
    fn join_warp(&mut self, launch: &Launch<'_>, t: usize) {
        let Some((op, mask, _)) = self.named(launch, t) else { return };
        let Joined::Collective(kind, size, signed) = op else { return };
        let first = t / LANES * LANES;
        let (mut active, mut named) = (0u32, [0; LANES]);
        let mut operands = [[0; LANES]; 3];
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            match self.threads.get(first + lane).map(|thread| thread.state) {
                None | Some(ThreadState::Gone) => continue,
                _ => {}
            }
            let Some((_, _, words)) =
                self.named(launch, first + lane).filter(|(other, with, _)| alike(*other, op) && *with == mask)
            else {
                return;
            };
            active |= 1 << lane;
            named[lane] = mask;
            for (k, lanes) in operands.iter_mut().enumerate().take(kind.arity() - 1) {
                // SAFETY: a collective has so many operands.
                lanes[lane] = unsafe { operand(words, k + 1) };
            }
        }
        let bits = if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
        operands[0].iter_mut().for_each(|value| *value &= bits);
        let [values, by, width] = operands;
        let results = match kind {
            Collective::SyncWarp => None,
            Collective::Shfl(kind) => Some(shuffle(kind, active, &named, &values, &by, &width)),
            _ => Some(combine(kind, active, &named, &values, signed)),
        };
        for lane in (0..LANES).filter(|lane| active >> lane & 1 != 0) {
            self.release(first + lane, results.map(|results| results[lane]));
        }
    }

    /// Answers the lanes of each warp that ask which threads are together, where no lane of the warp can make progress otherwise;
    /// whether any was answered.
    pub(super) fn answer_together(&mut self, launch: &Launch<'_>, end: usize) -> bool {
        let mut any = false;
        for first in (0..end).step_by(LANES) {
            let lanes = first..(first + LANES).min(end);
            if lanes.clone().any(|t| self.threads[t].gets_on()) {
                continue;
            }
            let Some(first_asked) = lanes.clone().filter_map(|t| self.asked(launch, t)).min() else { continue };
            let together: Vec<usize> =
                lanes.filter(|t| self.asked(launch, *t).is_some_and(|asked| asked == first_asked)).collect();
            let mask = together.iter().fold(0u32, |mask, t| mask | 1 << (t - first));
            together.into_iter().for_each(|t| self.release(t, Some(u64::from(mask))));
            any = true;
        }
        any
    }

    /// The question of a thread that asks which threads are together.
    fn asked<'a>(&self, launch: &'a Launch<'_>, t: usize) -> Option<Asked<'a>> {
        let (site, Joined::Collective(Collective::ActiveMask, ..), words) = self.waiting(launch, t)? else {
            return None;
        };
        let SiteKind::Join(join) = &launch.site(site)?.kind else { return None };
        // SAFETY: the words say of each loop around how many rounds are over.
        let rounds = (0..join.around.len()).map(|i| unsafe { operand(words, i) }).collect();
        Some(Asked { site, loops: &join.around, rounds })
    }

    /// The fault where all threads that are left wait at barriers and collectives.
    pub(super) fn stuck(&self, launch: &Launch<'_>, ctx: &mut Running) -> Option<RawFault> {
        let (t, (site, op, _)) = (0..self.threads.len()).find_map(|t| Some((t, self.waiting(launch, t)?)))?;
        let elsewhere = |t: &usize| match self.threads[*t].state {
            ThreadState::Waits(other, _) => Some(span(launch, other)),
            _ => None,
        };
        let left = |t: usize| self.threads.get(t).is_some_and(|thread| thread.state != ThreadState::Gone);
        let Some((_, mask, _)) = self.named(launch, t) else {
            let is_here = |t: usize| self.waiting(launch, t).is_some_and(|(other, ..)| other == site);
            let absent = (0..self.threads.len()).find(|t| left(*t) && !is_here(*t))?;
            let other = show(index_of(ctx, absent));
            let detail = format!("waits at `{}` for thread {other}, which went another way", name(op));
            let mut fault = at(launch, ctx, t, FaultKind::BarrierDivergence, site, detail);
            fault.related = elsewhere(&absent);
            return Some(fault);
        };
        let first = t / LANES * LANES;
        let with = |lane: usize| self.named(launch, first + lane).filter(|(other, ..)| alike(*other, op));
        let lane = (0..LANES).find(|lane| {
            mask >> lane & 1 != 0 && left(first + lane) && with(*lane).is_none_or(|(_, other, _)| other != mask)
        })?;
        let (name, absent) = (name(op), first + lane);
        let detail = match with(lane) {
            Some((_, other, _)) => {
                format!("`{name}` with mask {mask:#010x} names lane {lane}, whose mask is {other:#010x}")
            }
            None => format!("`{name}` with mask {mask:#010x} waits for lane {lane}, which went another way"),
        };
        let mut fault = at(launch, ctx, t, FaultKind::CollectiveMismatch, site, detail);
        fault.related = elsewhere(&absent);
        Some(fault)
    }
}
