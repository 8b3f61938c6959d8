//! Circles and floors of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Arrows between numbered nodes, each with its weight.
pub type Arrows = BTreeMap<(usize, usize), usize>;

/// The circles among `count` nodes: sets of two or more that all reach one another, each sorted, the largest first.
pub fn circles(count: usize, arrows: &Arrows) -> Vec<Vec<usize>> {
    let (mut ahead, mut behind) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (from, to) in arrows.keys() {
        ahead[*from].push(*to);
        behind[*to].push(*from);
    }
    // Kosaraju's algorithm: the nodes in the order in which their walks end, then backwards from the last.
    let (mut seen, mut ended) = (vec![false; count], Vec::new());
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            if next == 0 && std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match ahead[node].get(next) {
                Some(other) => stack.extend([(node, next + 1), (*other, 0)]),
                None => ended.push(node),
            }
        }
    }
    let (mut taken, mut found) = (vec![false; count], Vec::new());
    for start in ended.into_iter().rev() {
        let (mut stack, mut circle) = (vec![start], Vec::new());
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut taken[node], true) {
                circle.push(node);
                stack.extend(&behind[node]);
            }
        }
        circle.sort_unstable();
        if circle.len() > 1 {
            found.push(circle);
        }
    }
    found.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    found
}

/// The nodes in an order, the lowest first, in which only arrows of little weight run up.
///
/// The rule: nodes without arrows out go to the bottom, nodes without arrows in to the top, and of the rest the node whose arrows out
/// outweigh its arrows in the most goes to the top, until none is left (Eades, Lin and Smyth). Then each node in turn moves to the place
/// where the least weight runs up, until no move helps.
pub fn order(count: usize, arrows: &Arrows) -> Vec<usize> {
    let mut rest: BTreeSet<usize> = (0..count).collect();
    let (mut bottom, mut top) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let weight = |node: usize, out: bool| -> usize {
            let of = |(from, to): &(usize, usize)| if out { (*from, *to) } else { (*to, *from) };
            let own = arrows.iter().filter(|(a, _)| of(a).0 == node && of(a).1 != node && rest.contains(&of(a).1));
            own.map(|(_, w)| w).sum()
        };
        if let Some(node) = rest.iter().copied().find(|n| weight(*n, true) == 0) {
            rest.remove(&node);
            bottom.push(node);
            continue;
        }
        let best = |n: &usize| {
            let (out, into) = (weight(*n, true) as i64, weight(*n, false) as i64);
            // Ties go to the first.
            (into == 0, out - into, std::cmp::Reverse(*n))
        };
        let Some(node) = rest.iter().copied().max_by_key(best) else { break };
        rest.remove(&node);
        top.push(node);
    }
    bottom.extend(top.into_iter().rev());
    let mut order = bottom;
    for _ in 0..count {
        let mut moved = false;
        for node in 0..count {
            moved |= settle(&mut order, node, arrows);
        }
        if !moved {
            break;
        }
    }
    order
}

/// Moves a node to the place where the least weight runs up; true if that helped.
fn settle(order: &mut Vec<usize>, node: usize, arrows: &Arrows) -> bool {
    let Some(now) = order.iter().position(|n| *n == node) else { return false };
    let others: Vec<usize> = order.iter().copied().filter(|n| *n != node).collect();
    let weight = |from, to| arrows.get(&(from, to)).copied().unwrap_or(0) as i64;
    // All its arrows out run up when it is at the bottom.
    let mut up: i64 = others.iter().map(|o| weight(node, *o)).sum();
    let mut costs = vec![up];
    for other in &others {
        up += weight(*other, node) - weight(node, *other);
        costs.push(up);
    }
    let Some(best) = (0..costs.len()).min_by_key(|place| (costs[*place], place.abs_diff(now))) else { return false };
    if costs[best] >= costs[now] {
        return false;
    }
    order.remove(now);
    order.insert(best, node);
    true
}

/// The floor of each node, 0 the lowest: one above the highest node that it has an arrow down to.
pub fn floors(order: &[usize], arrows: &Arrows) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
    let mut floors = vec![0; order.len()];
    for node in order {
        let down = arrows.keys().filter(|(from, to)| from == node && place[*to] < place[*node]);
        floors[*node] = down.map(|(_, to)| floors[*to] + 1).max().unwrap_or(0);
    }
    floors
}
