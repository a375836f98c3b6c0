//! What is counted in a body to tell whether lanes gain, and how many.

/// What a body is made of.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) statements: usize,
    pub(super) loops: usize,
    /// Varying values that loops carry, and the most that one of them does.
    pub(super) carried: usize,
    pub(super) held: usize,
    /// Operations that have vectors for all lanes.
    pub(super) packed: usize,
    /// Varying statements that have not.
    pub(super) apart: usize,
    /// Those that have not, but compute addresses, check them or load from them for what goes into vectors.
    pub(super) finding: usize,
    /// Loads by vectors of addresses.
    pub(super) gathered: usize,
    /// Lanes of the vectors that have most, and of those that have least (0: there are none).
    pub(super) most: usize,
    pub(super) least: usize,
    /// How many loops there are around the statement at hand.
    pub(super) depth: usize,
    /// Those of the statements with vectors, and of those without, that are in loops.
    pub(super) inner: [usize; 2],
    /// The operations that functions are made of, of all with vectors and of those in loops.
    pub(super) steps: [usize; 2],
    /// Quotients and roots with vectors, of all and of those in loops.
    pub(super) divided: [usize; 2],
    /// Loops whose steps wait for what the one before has stored in an array of the lanes.
    pub(super) chained: usize,
    /// Loops that lanes leave at different steps.
    pub(super) diverging: usize,
    /// Those of them of which more registers are under way: that are done in strips, or carry little.
    pub(super) in_strips: usize,
    /// Those of them that carry one value through the fewest operations.
    pub(super) shortest: usize,
    /// The operations with vectors of the shortest step of a loop of one varying value, and lanes of a vector of that.
    pub(super) tightest: Option<(usize, usize)>,
}

impl Counts {
    /// Takes note of a vector with so many lanes.
    pub(super) fn fills(&mut self, lanes: Option<usize>) {
        let Some(lanes) = lanes else { return };
        self.most = self.most.max(lanes);
        self.least = match self.least {
            0 => lanes,
            least => least.min(lanes),
        };
    }
}
