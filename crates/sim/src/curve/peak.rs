//! For each buffer size, the maximum number of pages that the buffer ever held.

/// For each buffer size: the number of pages that the buffer holds, and the maximum number that it ever held.
///
/// The data structure is a segment tree over sizes. Each node stores a sum that has yet to be added to all sizes in
/// the subtree of the node. The node also stores the highest value that this sum had since the sum was last passed on
/// to the children.
pub(super) struct Peak {
    /// Number of sizes, which is a power of two.
    sizes: usize,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    sum: i64,
    most: i64,
}

impl Node {
    fn append(&mut self, later: Self) {
        self.most = self.most.max(self.sum + later.most);
        self.sum += later.sum;
    }
}

impl Peak {
    /// Full buffers. A buffer of each size holds as many pages as its size, but at most `pages`, and it has never
    /// held more.
    pub(super) fn full(pages: usize) -> Self {
        let mut peak = Self::of(pages + 1);
        for size in 0..peak.sizes {
            let held = size.min(pages) as i64;
            peak.nodes[peak.sizes + size] = Node {
                sum: held,
                most: held,
            };
        }
        peak
    }

    fn of(sizes: usize) -> Self {
        let sizes = sizes.next_power_of_two().max(1 << 10);
        Self {
            sizes,
            nodes: vec![Node::default(); sizes * 2],
        }
    }

    /// Adds `change` to the number of pages of all buffers of `depth` pages or more.
    pub(super) fn add(&mut self, depth: u32, change: i64) {
        let depth = depth as usize;
        if depth >= self.sizes {
            self.grow(depth + 1);
        }
        let change = Node {
            sum: change,
            most: change,
        };
        let (mut node, mut half) = (1, self.sizes / 2);
        while half > 0 {
            self.pass_on(node);
            node *= 2;
            if depth & half == 0 {
                self.nodes[node + 1].append(change);
            } else {
                node += 1;
            }
            half /= 2;
        }
        self.nodes[node].append(change);
    }

    fn pass_on(&mut self, node: usize) {
        let waiting = std::mem::take(&mut self.nodes[node]);
        self.nodes[node * 2].append(waiting);
        self.nodes[node * 2 + 1].append(waiting);
    }

    fn settle(&mut self) {
        for node in 1..self.sizes {
            self.pass_on(node);
        }
    }

    /// Extends the tree to at least `sizes` sizes. A new size starts with the values of the largest size so far.
    fn grow(&mut self, sizes: usize) {
        self.settle();
        let mut larger = Self::of(sizes);
        let last = self.nodes[self.sizes * 2 - 1];
        for size in 0..larger.sizes {
            let of = self.nodes[self.sizes..].get(size);
            larger.nodes[larger.sizes + size] = *of.unwrap_or(&last);
        }
        *self = larger;
    }

    /// For each size from 0 on: the maximum number of pages that the buffer ever held.
    pub(super) fn most(mut self, sizes: usize) -> Vec<u64> {
        if sizes > self.sizes {
            self.grow(sizes);
        }
        self.settle();
        let leaves = self.nodes[self.sizes..].iter();
        leaves
            .take(sizes)
            .map(|leaf| leaf.most.max(0) as u64)
            .collect()
    }
}
