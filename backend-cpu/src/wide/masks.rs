//! What a mask register holds from a comparison on, so that choices and conjunctions need not make it of lanes again, which are not needed then:
//!
//! ```text
//! vcmpltps k1, zmm1, zmm2                             vcmpltps k1, zmm1, zmm2
//! vpmovm2d zmm3, k1                             ──►
//! vpmovd2m k1, zmm3; vblendmps zmm4 {k1}, ..          vblendmps zmm4 {k1}, ..
//! vpmovb2m k1, zmm3; vpblendmb zmm5 {k1}, ..          vpblendmd zmm5 {k1}, ..
//! vpandd zmm6, zmm3, zmm7                             vmovdqa32 zmm6 {k1}{z}, zmm7
//! ```
//!
//! So need branches that are taken if anything holds in any lane:
//!
//! ```text
//! vcmpltps k1, ..; vpmovm2d zmm3, k1                  vcmpltps k2, ..
//! vptestmd k1, zmm3, zmm3; kortestw k1, k1      ──►   kortestw k2, k2
//! ```
//!
//! What several comparisons say together, by which something is chosen, is put together in mask registers, of which each keeps what it holds until
//! its turn comes again:
//!
//! ```text
//! vcmpltps k1, ..; vpmovm2d zmm3, k1                  vcmpltps k2, ..
//! vcmpeqps k1, ..; vpmovm2d zmm4, k1            ──►   vcmpeqps k3, ..
//! vpord zmm5, zmm3, zmm4                              korq k4, k2, k3
//! vpmovd2m k1, zmm5; vblendmps zmm6 {k1}, ..          vblendmps zmm6 {k4}, ..
//! ```
//!
//! So are two masks of lanes of 64 bits for a register of lanes of 32:
//!
//! ```text
//! vcmpltpd k1, ..; vpmovm2q zmm3, k1                  vcmpltpd k2, ..
//! vcmpltpd k1, ..; vpmovm2q zmm4, k1            ──►   vcmpltpd k3, ..
//! vshufps zmm5, zmm3, zmm4, 0x88; vpermq zmm5, ..     kunpckbw k4, k3, k2
//! vpandd zmm6, zmm5, zmm7                             vmovdqa32 zmm6 {k4}{z}, zmm7
//! ```

use super::Width;
use super::forms::{Form, Order, form};
use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};
use std::collections::{HashMap, HashSet};

/// The instructions that make lanes of a mask, by the bytes of a lane.
const LANES: [(Code, usize); 4] = [
    (Code::EVEX_Vpmovm2b_zmm_kr, 1),
    (Code::EVEX_Vpmovm2w_zmm_kr, 2),
    (Code::EVEX_Vpmovm2d_zmm_kr, 4),
    (Code::EVEX_Vpmovm2q_zmm_kr, 8),
];
/// Choices by a mask, by the bytes of a lane.
const CHOICES: [(Code, usize); 6] = [
    (Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512, 1),
    (Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, 2),
    (Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64, 8),
    (Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64, 8),
];

/// Copies of the lanes that a mask says, by the bytes of a lane.
const COPIES: [(Code, usize); 4] = [
    (Code::EVEX_Vmovdqu8_zmm_k1z_zmmm512, 1),
    (Code::EVEX_Vmovdqu16_zmm_k1z_zmmm512, 2),
    (Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, 4),
    (Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512, 8),
];
/// Conjunctions of all bits.
const ANDS: [Code; 3] = [
    Code::VEX_Vpand_xmm_xmm_xmmm128,
    Code::VEX_Vandps_xmm_xmm_xmmm128,
    Code::VEX_Vandpd_xmm_xmm_xmmm128,
];

/// Disjunctions of all bits.
const ORS: [Code; 3] = [
    Code::VEX_Vpor_xmm_xmm_xmmm128,
    Code::VEX_Vorps_xmm_xmm_xmmm128,
    Code::VEX_Vorpd_xmm_xmm_xmmm128,
];
/// Copies of registers.
const MOVES: [Code; 6] = [
    Code::VEX_Vmovdqa_xmm_xmmm128,
    Code::VEX_Vmovdqu_xmm_xmmm128,
    Code::VEX_Vmovaps_xmm_xmmm128,
    Code::VEX_Vmovups_xmm_xmmm128,
    Code::VEX_Vmovapd_xmm_xmmm128,
    Code::VEX_Vmovupd_xmm_xmmm128,
];
/// The mask register that is set again and again, and those that keep what they hold.
pub(super) const MASK: Register = Register::K1;
const KEPT: [Register; 6] = [
    Register::K2,
    Register::K3,
    Register::K4,
    Register::K5,
    Register::K6,
    Register::K7,
];

/// The lower halves of lanes of 64 bits of two registers, part by part.
const HALVES: (Code, u8) = (Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, 0x88);

/// What mask registers hold.
pub(super) struct Masks {
    /// Where branches go to: what is held there is not known.
    targets: HashSet<u64>,
    /// The registers of which all bits of a lane are set or none, as a mask says, the bytes of a lane, and the mask.
    held: Vec<(Register, usize, Register)>,
    /// The registers that have the halves of lanes of 64 bits that two masks say, of which the order is still another.
    mixed: Vec<(Register, [Register; 2])>,
    /// Comparisons whose masks are kept, and conjunctions and disjunctions of masks.
    kept: HashSet<u64>,
    together: HashSet<u64>,
    /// Whose turn it is to be set.
    next: usize,
}

/// Where the lanes of a mask come from: an instruction, the bytes of a lane, and what it puts together.
#[derive(Clone)]
struct Origin {
    number: usize,
    bytes: usize,
    of: Vec<Origin>,
    /// Whether these are lanes of two masks, and whether they are in order.
    halves: Option<bool>,
}

impl Origin {
    /// Whether both are masks of lanes of the same bytes, in order.
    fn is_like(&self, other: &Self) -> bool {
        self.bytes == other.bytes && [self, other].iter().all(|one| one.halves != Some(false))
    }
}

/// Whether an instruction takes the lower halves of lanes of 64 bits of two registers.
fn is_halves(instruction: &Instruction) -> bool {
    instruction.code() == HALVES.0
        && instruction.immediate8() == HALVES.1
        && instruction.op2_kind() == OpKind::Register
}

impl Masks {
    pub(super) fn new(instructions: &[Instruction], width: Width) -> Self {
        let targets = instructions.iter().map(Instruction::near_branch_target);
        let mut masks = Self {
            targets: targets.collect(),
            held: Vec::new(),
            mixed: Vec::new(),
            kept: HashSet::new(),
            together: HashSet::new(),
            next: 0,
        };
        if width == Width::Four {
            masks.find(instructions);
        }
        masks
    }

    /// Finds what is put together of several comparisons until something is chosen by it.
    fn find(&mut self, instructions: &[Instruction]) {
        let mut known: HashMap<Register, Origin> = HashMap::new();
        let mut last = 0;
        for (number, instruction) in instructions.iter().enumerate() {
            if self.targets.contains(&instruction.ip()) {
                known.clear();
            }
            if !goes_on(instruction) {
                known.clear();
                continue;
            }
            let register = |k: u32| {
                let is_register = instruction.op_kind(k) == OpKind::Register;
                is_register.then(|| instruction.op_register(k).full_register())
            };
            let count = instruction.op_count();
            let Some(to) = (count > 0).then(|| register(0)).flatten() else {
                continue;
            };
            let code = instruction.code();
            let of = |k: u32| {
                register(k)
                    .and_then(|register| known.get(&register))
                    .cloned()
            };
            let origin = match form(code, Width::Four) {
                _ if MOVES.contains(&code) => of(1),
                _ if count == 3 && (ANDS.contains(&code) || ORS.contains(&code)) => {
                    match (of(1), of(2)) {
                        (Some(a), Some(b)) if a.is_like(&b) => Some(Origin {
                            number,
                            bytes: a.bytes,
                            of: vec![a, b],
                            halves: None,
                        }),
                        (Some(by), None) | (None, Some(by)) if by.halves == Some(true) => {
                            self.keep(instructions, &by);
                            None
                        }
                        _ => None,
                    }
                }
                _ if is_halves(instruction) => match (of(1), of(2)) {
                    (Some(a), Some(b)) if a.is_like(&b) && a.bytes == 8 => Some(Origin {
                        number,
                        bytes: 4,
                        of: vec![a, b],
                        halves: Some(false),
                    }),
                    _ => None,
                },
                Some(Form::Sort(Order::Apart)) => {
                    let mixed = of(1).filter(|by| by.halves == Some(false));
                    mixed.map(|by| Origin {
                        number,
                        halves: Some(true),
                        ..by
                    })
                }
                Some(Form::Compare([_, lanes])) if to.is_vector_register() => {
                    let bytes = LANES.iter().find(|(code, _)| *code == lanes);
                    bytes.map(|(_, bytes)| Origin {
                        number,
                        bytes: *bytes,
                        of: Vec::new(),
                        halves: None,
                    })
                }
                Some(what @ (Form::Blend(_) | Form::Test)) => {
                    if let Some(by) = of(if what == Form::Test { 0 } else { 3 })
                        && by.halves != Some(false)
                        && (!by.of.is_empty() || by.number < last)
                    {
                        self.keep(instructions, &by);
                    }
                    None
                }
                Some(_) | None => None,
            };
            if form(code, Width::Four) == Some(Form::Test) {
                continue;
            }
            match origin {
                Some(origin) => {
                    last = last.max(origin.number);
                    known.insert(to, origin);
                }
                None => {
                    known.remove(&to);
                }
            }
        }
    }

    fn keep(&mut self, instructions: &[Instruction], origin: &Origin) {
        let at = instructions[origin.number].ip();
        let all = if origin.of.is_empty() {
            &mut self.kept
        } else {
            &mut self.together
        };
        if all.insert(at) {
            for of in &origin.of {
                self.keep(instructions, of);
            }
        }
    }

    /// The mask register for the comparison at an address.
    pub(super) fn register(&mut self, at: u64) -> Register {
        if self.kept.contains(&at) {
            self.turn()
        } else {
            MASK
        }
    }

    /// The mask register that has been set before all others.
    fn turn(&mut self) -> Register {
        self.next = (self.next + 1) % KEPT.len();
        KEPT[self.next]
    }

    fn of(&self, register: Register) -> Option<(usize, Register)> {
        let register = register.full_register();
        let mut held = self.held.iter().rev();
        let found = held.find(|(lanes, ..)| *lanes == register)?;
        Some((found.1, found.2))
    }

    /// The conjunction or disjunction of two masks by an instruction, as it was before it is widened: how its lanes are made, and how the mask is.
    pub(super) fn together(
        &self,
        instruction: &Instruction,
    ) -> Option<(Code, Code, [Register; 2])> {
        if !self.together.contains(&instruction.ip()) || self.targets.contains(&instruction.ip()) {
            return None;
        }
        let [(bytes, a), (other, b)] = [
            self.of(instruction.op1_register())?,
            self.of(instruction.op2_register())?,
        ];
        let lanes = LANES.iter().find(|(_, of)| *of == bytes)?.0;
        let code = match ANDS.contains(&instruction.code()) {
            true => Code::VEX_Kandq_kr_kr_kr,
            false => Code::VEX_Korq_kr_kr_kr,
        };
        (bytes == other).then_some((lanes, code, [a, b]))
    }

    /// The masks of which an instruction, as it was before it is widened, takes the halves of lanes.
    pub(super) fn halves(&self, instruction: &Instruction) -> Option<[Register; 2]> {
        if !is_halves(instruction) || self.targets.contains(&instruction.ip()) {
            return None;
        }
        let both = [instruction.op1_register(), instruction.op2_register()];
        let [(8, a), (8, b)] = [self.of(both[0])?, self.of(both[1])?] else {
            return None;
        };
        Some([a, b])
    }

    /// Takes note of these.
    pub(super) fn mix(&mut self, to: Register, of: [Register; 2]) {
        self.mixed.push((to.full_register(), of));
    }

    /// The masks that an instruction, as it was before it is widened, puts in order, and how its lanes are made.
    pub(super) fn in_order(&self, instruction: &Instruction) -> Option<(Code, [Register; 2])> {
        let is_order = form(instruction.code(), Width::Four) == Some(Form::Sort(Order::Apart));
        if !is_order || !self.together.contains(&instruction.ip()) {
            return None;
        }
        let from = instruction.op1_register().full_register();
        let (_, of) = self.mixed.iter().find(|(lanes, _)| *lanes == from)?;
        let lanes = LANES.iter().find(|(_, bytes)| *bytes == 4)?.0;
        (!self.targets.contains(&instruction.ip())).then_some((lanes, *of))
    }

    /// The mask register for such.
    pub(super) fn register_together(&mut self) -> Register {
        self.turn()
    }

    /// Takes note of an instruction as it was before it is widened, which may change a register.
    pub(super) fn pass(&mut self, instruction: &Instruction) {
        if !goes_on(instruction) || self.targets.contains(&instruction.ip()) {
            self.held.clear();
            self.mixed.clear();
        }
        let writes = form(instruction.code(), Width::Four) != Some(Form::Test);
        if writes && instruction.op_count() > 0 && instruction.op_kind(0) == OpKind::Register {
            let written = instruction.op0_register().full_register();
            let copied = MOVES.contains(&instruction.code())
                && instruction.op1_kind() == OpKind::Register
                && instruction.op1_register().full_register() != written;
            let copied = copied
                .then(|| self.of(instruction.op1_register()))
                .flatten();
            self.held.retain(|(held, ..)| *held != written);
            self.mixed.retain(|(mixed, _)| *mixed != written);
            if let Some((bytes, mask)) = copied {
                self.held.push((written, bytes, mask));
            }
        }
    }

    /// The copy of a register's lanes by a mask register as it is, if an instruction, as it was before it is widened, is a conjunction of these
    /// with what that says.
    pub(super) fn copy(&self, instruction: &Instruction) -> Option<(Code, Register, Register)> {
        let registers = (0..3).all(|k| instruction.op_kind(k) == OpKind::Register);
        if !ANDS.contains(&instruction.code())
            || !registers
            || self.targets.contains(&instruction.ip())
        {
            return None;
        }
        let (first, second) = (instruction.op1_register(), instruction.op2_register());
        let ((bytes, mask), from) = match (self.of(first), self.of(second)) {
            (Some(held), _) => (held, second),
            (None, Some(held)) => (held, first),
            (None, None) => return None,
        };
        let code = COPIES.iter().find(|(_, of)| *of == bytes)?.0;
        Some((code, from, mask))
    }

    /// A mask register is set; if by a comparison, this makes its lanes.
    pub(super) fn set(&mut self, mask: Register, lanes: Option<(Register, Code)>) {
        self.held.retain(|(.., held)| *held != mask);
        self.mixed.retain(|(_, of)| !of.contains(&mask));
        if let Some((register, code)) = lanes
            && let Some((_, bytes)) = LANES.iter().find(|(lanes, _)| *lanes == code)
        {
            self.held.push((register.full_register(), *bytes, mask));
        }
    }

    /// What an instruction, as it was before it is widened, chooses or branches by, if a mask register says it: the bytes of a lane, and the mask.
    pub(super) fn chooses_by(&self, instruction: &Instruction) -> Option<(usize, Register)> {
        if self.targets.contains(&instruction.ip()) {
            return None;
        }
        let what = form(instruction.code(), Width::Four)?;
        let tested = instruction.op0_register();
        if matches!(what, Form::Blend(_)) {
            self.of(instruction.op3_register())
        } else if what == Form::Test && instruction.op1_register() == tested {
            self.of(tested)
        } else {
            None
        }
    }
}

/// A choice by a mask register as it is, if lanes of so many bytes that it says may be chosen by it.
pub(super) fn choice((bytes, mask): (usize, Register), code: Code) -> Option<(Code, Register)> {
    let wanted = CHOICES.iter().find(|(choice, _)| *choice == code)?.1;
    if wanted > bytes {
        return None;
    }
    if wanted == bytes {
        return Some((code, mask));
    }
    let wider = CHOICES.iter().find(|(_, of)| *of == bytes)?;
    Some((wider.0, mask))
}

/// Whether any of the lanes of so many bytes is set that a mask says.
pub(super) fn any(bytes: usize) -> Code {
    match bytes {
        1 => Code::VEX_Kortestq_kr_kr,
        2 => Code::VEX_Kortestd_kr_kr,
        4 => Code::VEX_Kortestw_kr_kr,
        _ => Code::VEX_Kortestb_kr_kr,
    }
}

/// Whether what mask registers hold is known behind an instruction.
fn goes_on(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::ConditionalBranch
    )
}

/// Whether an instruction does nothing but make lanes of a mask, or put such lanes of two registers in one.
pub(super) fn makes_lanes(instruction: &Instruction) -> bool {
    LANES.iter().any(|(code, _)| *code == instruction.code())
        || instruction.code() == Code::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8
            && instruction.op3_kind() != OpKind::Memory
            && instruction.op2_kind() == OpKind::Register
            && instruction.op_mask() == Register::None
}
