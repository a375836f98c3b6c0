//! Products and sums in one instruction, whose three forms differ in the operand that the result takes the place of; and numbers in all lanes.

use super::access::At;
use crate::wide::Width;
use iced_x86::{Code, Instruction, OpKind, Register};

/// The forms of each operation: first * third + second, second * first + third, second * third + first.
const TWO: [[Code; 3]; 8] = [
    [
        Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231pd_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
    ],
    [
        Code::VEX_Vfnmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231pd_ymm_ymm_ymmm256,
    ],
];
const FOUR: [[Code; 3]; 8] = [
    [
        Code::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
    [
        Code::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    [
        Code::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
    [
        Code::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    [
        Code::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
    [
        Code::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    [
        Code::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
    [
        Code::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
];

/// The operands of the factors and of the sum in each form.
const FACTORS: [[u32; 2]; 3] = [[0, 2], [1, 0], [1, 2]];
const SUMS: [u32; 3] = [1, 2, 0];

/// An instruction that adds a product: its operation, and which form it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    forms: [Code; 3],
    form: usize,
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Factor,
    Sum,
}

/// The operation and the form of an instruction that adds a product.
pub(super) fn fused(code: Code, width: Width) -> Option<Fused> {
    let table = match width {
        Width::Two => &TWO,
        Width::Four => &FOUR,
    };
    table.iter().find_map(|forms| {
        let form = forms.iter().position(|form| *form == code)?;
        Some(Fused {
            forms: *forms,
            form,
        })
    })
}

impl Fused {
    /// What the operand there is.
    pub(super) fn term(self, at: At) -> Term {
        if at == At::Operand(SUMS[self.form]) {
            Term::Sum
        } else {
            Term::Factor
        }
    }

    /// The operands of an instruction.
    pub(super) fn operands(self, instruction: &Instruction) -> Operands {
        let operand = |k: u32| {
            let is_register = instruction.op_kind(k) == OpKind::Register;
            is_register.then(|| instruction.op_register(k))
        };
        Operands {
            forms: self.forms,
            factors: FACTORS[self.form].map(operand),
            sum: operand(SUMS[self.form]),
            given: *instruction,
        }
    }
}

/// The operands of an instruction that adds a product: registers, or memory in one place.
pub(super) struct Operands {
    forms: [Code; 3],
    factors: [Option<Register>; 2],
    sum: Option<Register>,
    given: Instruction,
}

impl Operands {
    /// The register of the sum, unless it is in memory.
    pub(super) const fn sum(&self) -> Option<Register> {
        self.sum
    }

    /// An instruction with this result, which is in the place of the first operand.
    fn with(
        &self,
        form: usize,
        to: Register,
        second: Register,
        third: Option<Register>,
    ) -> Instruction {
        let mut new = if third.is_some() {
            Instruction::default()
        } else {
            self.given
        };
        new.set_code(self.forms[form]);
        new.set_op0_register(to);
        new.set_op1_register(second);
        match third {
            Some(third) => new.set_op2_register(third),
            None => new.set_op2_kind(OpKind::Memory),
        }
        new.set_ip(self.given.ip());
        new
    }

    /// The instruction whose result is in this register, if that is the one of an operand.
    pub(super) fn tied(&self, to: Register) -> Option<Instruction> {
        if self.sum == Some(to) {
            return Some(self.of_sum(to));
        }
        let [a, b] = self.factors;
        let other = match (a == Some(to), b == Some(to)) {
            (true, _) => b,
            (_, true) => a,
            (false, false) => return None,
        };
        Some(match (other, self.sum) {
            (Some(other), sum) => self.with(1, to, other, sum),
            (None, sum) => self.with(0, to, sum?, None),
        })
    }

    /// The instruction whose sum is in this register.
    pub(super) fn of_sum(&self, to: Register) -> Instruction {
        match self.factors {
            [Some(a), b] => self.with(2, to, a, b),
            [None, b] => self.with(2, to, b.unwrap_or(to), None),
        }
    }
}

/// Forms of an instruction that puts a number in all lanes.
pub(super) struct Spread {
    /// The one that loads a number.
    pub(super) load: Code,
    /// The one that loads it in all lanes.
    pub(super) all: Code,
}

/// How a number could be loaded that this instruction puts in all lanes, from a register.
pub(super) fn spread(instruction: &Instruction, width: Width) -> Option<Spread> {
    let singles = [Code::VEX_Vmovss_xmm_m32, Code::VEX_Vmovsd_xmm_m64];
    let (from_register, all) = match width {
        Width::Two => (
            [
                Code::VEX_Vbroadcastss_ymm_xmm,
                Code::VEX_Vbroadcastsd_ymm_xmm,
            ],
            [
                Code::VEX_Vbroadcastss_ymm_m32,
                Code::VEX_Vbroadcastsd_ymm_m64,
            ],
        ),
        Width::Four => {
            let both = [
                Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
                Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
            ];
            (both, both)
        }
    };
    let which = from_register
        .iter()
        .position(|code| *code == instruction.code())?;
    let is_register = instruction.op_kind(1) == OpKind::Register;
    is_register.then(|| Spread {
        load: singles[which],
        all: all[which],
    })
}
