//! Machine code before and during register allocation: instructions of x64 over virtual registers, as `regalloc2` sees them.

use iced_x86::{Code, Register};
use regalloc2::{
    Block, Inst, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind, OperandPos, PReg,
    PRegSet, RegClass, VReg,
};

/// General registers.
pub(super) const GENERAL: RegClass = RegClass::Int;
/// Vector registers.
pub(super) const VECTOR: RegClass = RegClass::Float;
/// Mask registers.
pub(super) const MASK: RegClass = RegClass::Vector;

/// What of a register an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Byte,
    Word16,
    Word32,
    Word64,
    Bits128,
    Bits256,
    Bits512,
    Mask,
}

/// Where a memory operand begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The register of this operand.
    Operand(usize),
    /// A stack slot of the function.
    Slot(usize),
    /// A constant of the pool.
    Pool(usize),
}

/// An operand as it is encoded. Registers are those of operands of the register allocator, by their locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoded {
    Register(usize, Part),
    Memory {
        base: Base,
        /// The operand, what of its register it is, and the scale.
        index: Option<(usize, Part, u32)>,
        disp: i32,
    },
    Immediate(i64),
}

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain(Code),
    Jump,
    /// To the first successor if the condition of the code holds, else to the second.
    Branch(Code),
    /// Returns what is in `rax`.
    Return,
    /// Where the parameters of the function come to be in their registers.
    Params,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) kind: Kind,
    pub(super) operands: Vec<Operand>,
    pub(super) encoded: Vec<Encoded>,
    /// The operand that masks it, and whether other elements become zero.
    pub(super) mask: Option<(usize, bool)>,
    /// Whether the memory operand is one element, for all.
    pub(super) broadcast: bool,
    /// Whether it destroys all that a call may.
    pub(super) is_call: bool,
    /// Whether a call has a result.
    pub(super) keeps_result: bool,
}

impl Machine {
    pub(super) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            operands: Vec::new(),
            encoded: Vec::new(),
            mask: None,
            broadcast: false,
            is_call: false,
            keeps_result: false,
        }
    }

    pub(super) const fn code(code: Code) -> Self {
        Self::new(Kind::Plain(code))
    }

    fn operand(
        &mut self,
        vreg: VReg,
        constraint: OperandConstraint,
        (kind, pos): (OperandKind, OperandPos),
    ) -> usize {
        let operand = Operand::new(vreg, constraint, kind, pos);
        self.operands.push(operand);
        self.operands.len() - 1
    }

    fn register(mut self, at: usize, part: Part) -> Self {
        self.encoded.push(Encoded::Register(at, part));
        self
    }

    /// A register that is written.
    pub(super) fn def(mut self, vreg: VReg, part: Part) -> Self {
        let location = (OperandKind::Def, OperandPos::Late);
        let at = self.operand(vreg, OperandConstraint::Reg, location);
        self.register(at, part)
    }

    /// A register that is read.
    pub(super) fn uses(mut self, vreg: VReg, part: Part) -> Self {
        let location = (OperandKind::Use, OperandPos::Early);
        let at = self.operand(vreg, OperandConstraint::Reg, location);
        self.register(at, part)
    }

    /// A register that is read and written: the value before and the value after.
    pub(super) fn updates(mut self, before: VReg, after: VReg, part: Part) -> Self {
        let location = (OperandKind::Use, OperandPos::Early);
        let at = self.operand(before, OperandConstraint::Reg, location);
        let location = (OperandKind::Def, OperandPos::Late);
        let at = self.operand(after, OperandConstraint::Reuse(at), location);
        self.register(at, part)
    }

    /// A register that is read, written or both, but not encoded: it is always the same.
    pub(super) fn fixed(mut self, vreg: VReg, register: PReg, kind: OperandKind) -> Self {
        let pos = match kind {
            OperandKind::Use => OperandPos::Early,
            OperandKind::Def => OperandPos::Late,
        };
        self.operand(vreg, OperandConstraint::FixedReg(register), (kind, pos));
        self
    }

    /// A register that is always the same, and encoded.
    pub(super) fn fixed_use(mut self, vreg: VReg, register: PReg, part: Part) -> Self {
        let location = (OperandKind::Use, OperandPos::Early);
        let at = self.operand(vreg, OperandConstraint::FixedReg(register), location);
        self.register(at, part)
    }

    pub(super) fn immediate(mut self, value: i64) -> Self {
        self.encoded.push(Encoded::Immediate(value));
        self
    }

    /// The mask of the instruction.
    pub(super) fn masked(mut self, vreg: Option<VReg>, zeroing: bool) -> Self {
        if let Some(vreg) = vreg {
            let location = (OperandKind::Use, OperandPos::Early);
            let at = self.operand(vreg, OperandConstraint::Reg, location);
            self.mask = Some((at, zeroing));
        }
        self
    }

    /// The mask of an instruction that clears it: the value before and the value after.
    pub(super) fn mask_cleared(mut self, before: VReg, after: VReg) -> Self {
        let location = (OperandKind::Use, OperandPos::Early);
        let at = self.operand(before, OperandConstraint::Reg, location);
        let location = (OperandKind::Def, OperandPos::Late);
        let at = self.operand(after, OperandConstraint::Reuse(at), location);
        self.mask = Some((at, false));
        self
    }

    /// A memory operand.
    pub(super) fn memory(self, location: &Location) -> Self {
        self.memory_until(location, OperandPos::Early)
    }

    /// A memory operand whose registers are not those that the instruction writes.
    pub(super) fn memory_late(self, location: &Location) -> Self {
        self.memory_until(location, OperandPos::Late)
    }

    fn memory_until(mut self, location: &Location, pos: OperandPos) -> Self {
        let base = match location.base {
            LocationBase::Register(vreg) => {
                let at = self.operand(vreg, OperandConstraint::Reg, (OperandKind::Use, pos));
                Base::Operand(at)
            }
            LocationBase::Slot(slot) => Base::Slot(slot),
            LocationBase::Pool(constant) => Base::Pool(constant),
        };
        let index = location.index.map(|(vreg, part, scale)| {
            let at = self.operand(vreg, OperandConstraint::Reg, (OperandKind::Use, pos));
            (at, part, scale)
        });
        self.encoded.push(Encoded::Memory {
            base,
            index,
            disp: location.disp,
        });
        self
    }

    /// Says that the memory operand is one element for all.
    pub(super) const fn broadcasting(mut self) -> Self {
        self.broadcast = true;
        self
    }
}

/// A location in memory before registers are allocated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) base: LocationBase,
    pub(super) index: Option<(VReg, Part, u32)>,
    pub(super) disp: i32,
}

/// Where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocationBase {
    Register(VReg),
    Slot(usize),
    Pool(usize),
}

impl Location {
    pub(super) const fn pool(constant: usize) -> Self {
        Self {
            base: LocationBase::Pool(constant),
            index: None,
            disp: 0,
        }
    }

    /// The location so many bytes further.
    pub(super) const fn plus(self, bytes: i32) -> Self {
        Self {
            disp: self.disp + bytes,
            ..self
        }
    }
}

/// A block.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineBlock {
    pub(super) params: Vec<VReg>,
    pub(super) insts: Vec<Machine>,
    pub(super) succs: Vec<Block>,
    /// What the only successor is given.
    pub(super) args: Vec<VReg>,
    pub(super) cold: bool,
}

/// A function of machine instructions. The first block is where it begins.
pub(super) struct MachineFunction {
    pub(super) insts: Vec<Machine>,
    pub(super) blocks: Vec<MachineBlock>,
    ranges: Vec<InstRange>,
    preds: Vec<Vec<Block>>,
    vregs: usize,
    clobbers: PRegSet,
}

impl MachineFunction {
    /// Concatenates the instructions of blocks.
    pub(super) fn new(mut blocks: Vec<MachineBlock>, vregs: usize) -> Self {
        let (mut insts, mut ranges) = (Vec::new(), Vec::new());
        let mut preds = vec![Vec::new(); blocks.len()];
        for (k, block) in blocks.iter_mut().enumerate() {
            let first = Inst::new(insts.len());
            insts.append(&mut block.insts);
            ranges.push(InstRange::new(first, Inst::new(insts.len())));
            for succ in &block.succs {
                preds[succ.index()].push(Block::new(k));
            }
        }
        Self {
            insts,
            blocks,
            ranges,
            preds,
            vregs,
            clobbers: clobbers(),
        }
    }

    pub(super) fn range(&self, block: usize) -> InstRange {
        self.ranges[block]
    }
}

impl regalloc2::Function for MachineFunction {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].succs
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.blocks[block.index()].params
    }

    fn is_ret(&self, inst: Inst) -> bool {
        self.insts[inst.index()].kind == Kind::Return
    }

    fn is_branch(&self, inst: Inst) -> bool {
        matches!(self.insts[inst.index()].kind, Kind::Jump | Kind::Branch(_))
    }

    fn branch_blockparams(&self, block: Block, _: Inst, _: usize) -> &[VReg] {
        &self.blocks[block.index()].args
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.insts[inst.index()].operands
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        let machine = &self.insts[inst.index()];
        match (machine.is_call, machine.keeps_result) {
            (true, true) => {
                let mut set = self.clobbers;
                set.remove(RAX);
                set
            }
            (true, false) => self.clobbers,
            (false, _) => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Int | RegClass::Vector => 1,
            RegClass::Float => 8,
        }
    }
}

pub(super) const RAX: PReg = PReg::new(0, GENERAL);
pub(super) const RCX: PReg = PReg::new(1, GENERAL);
pub(super) const RDX: PReg = PReg::new(2, GENERAL);
/// Registers in which calls take integers, in order.
pub(super) const ARGUMENTS: [PReg; 6] = [
    PReg::new(7, GENERAL),
    PReg::new(6, GENERAL),
    RDX,
    RCX,
    PReg::new(8, GENERAL),
    PReg::new(9, GENERAL),
];
/// General registers that calls keep, but for the two of the frame.
pub(super) const KEPT: [usize; 5] = [3, 12, 13, 14, 15];
/// General registers that calls do not keep.
const LOST: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// What calls destroy.
fn clobbers() -> PRegSet {
    let mut set = PRegSet::empty();
    LOST.iter().for_each(|k| set.add(PReg::new(*k, GENERAL)));
    (0..32).for_each(|k| set.add(PReg::new(k, VECTOR)));
    (1..8).for_each(|k| set.add(PReg::new(k, MASK)));
    set
}

/// The registers that may be allocated.
pub(super) fn environment() -> MachineEnv {
    let set = |class: RegClass, numbers: &mut dyn Iterator<Item = usize>| {
        let mut set = PRegSet::empty();
        numbers.for_each(|k| set.add(PReg::new(k, class)));
        set
    };
    MachineEnv {
        preferred_regs_by_class: [
            set(GENERAL, &mut LOST.into_iter()),
            set(VECTOR, &mut (0..32)),
            set(MASK, &mut (1..8)),
        ],
        non_preferred_regs_by_class: [
            set(GENERAL, &mut KEPT.into_iter()),
            PRegSet::empty(),
            PRegSet::empty(),
        ],
        scratch_by_class: [None, None, None],
        fixed_stack_slots: Vec::new(),
    }
}

/// A register as an operand.
pub(super) fn register(preg: PReg, part: Part) -> Register {
    let k = preg.hw_enc();
    let from = |first: Register| first + k as u32;
    match part {
        Part::Byte => match k {
            0 => Register::AL,
            1 => Register::CL,
            2 => Register::DL,
            3 => Register::BL,
            6 => Register::SIL,
            7 => Register::DIL,
            _ => Register::R8L + (k - 8) as u32,
        },
        Part::Word16 => from(Register::AX),
        Part::Word32 => from(Register::EAX),
        Part::Word64 => from(Register::RAX),
        Part::Bits128 => from(Register::XMM0),
        Part::Bits256 => from(Register::YMM0),
        Part::Bits512 => from(Register::ZMM0),
        Part::Mask => from(Register::K0),
    }
}
