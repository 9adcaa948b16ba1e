//! Questions that a program asks about a call's result.

use crate::values::Known;
use crate::walk::Reader;
use serde_json::Value;
use tooltrail_model::script::{Condition, States, member};

impl Reader<'_> {
    /// The condition on which a value counts as true, and its opposite.
    pub(crate) fn condition(&mut self, value: &Known) -> [Condition; 2] {
        if let Some((call, states)) = test(value) {
            return [Condition::Result { call, states }, Condition::Result { call, states: states.others() }];
        }
        self.choices += 1;
        let choice = self.choices;
        [Condition::Choice { choice, holds: true }, Condition::Choice { choice, holds: false }]
    }
}

/// The states of a result in which a value counts as true.
pub(crate) fn test(value: &Known) -> Option<(usize, States)> {
    match value {
        Known::Test(call, states) => Some((*call, *states)),
        Known::Part(call, name) => {
            let states = match &**name {
                member::EXIT_CODE => States::NONZERO,
                member::SESSION => States::BACKGROUND,
                member::OUTPUT => States::WITH_OUTPUT,
                _ => return None,
            };
            Some((*call, states))
        }
        _ => None,
    }
}

/// `!` of a value.
pub(crate) fn not(value: &Known) -> Known {
    match (value.truth(), test(value)) {
        (Some(truth), _) => Known::Literal(Value::Bool(!truth)),
        (None, Some((call, states))) => Known::Test(call, states.others()),
        _ => Known::Unknown,
    }
}

/// Comparison of two values by `==`, `===` and their opposites.
pub(crate) fn equal(left: &Known, right: &Known, strict: bool) -> Known {
    if let (Known::Literal(left), Known::Literal(right)) = (left, right) {
        let alike = std::mem::discriminant(left) == std::mem::discriminant(right);
        return if strict || alike { Known::Literal(Value::Bool(left == right)) } else { Known::Unknown };
    }
    let ((Known::Part(call, name), other) | (other, Known::Part(call, name))) = (left, right) else { return Known::Unknown };
    let nothing = matches!(other, Known::Undefined) || !strict && matches!(other, Known::Literal(Value::Null));
    let states = match &**name {
        member::EXIT_CODE if nothing => States::BACKGROUND,
        member::EXIT_CODE if matches!(other, Known::Literal(number) if number.as_i64() == Some(0)) => States::ZERO,
        member::SESSION if nothing => States::ENDED,
        member::OUTPUT if other.as_text() == Some("") => States::WITH_OUTPUT.others(),
        _ => return Known::Unknown,
    };
    Known::Test(*call, states)
}

/// Either side of `&&` and `||` where both ask about the same result.
pub(crate) fn both(left: &Known, right: &Known, and: bool) -> Known {
    match (left, test(left), test(right)) {
        (Known::Test(..), Some((call, one)), Some((same, other))) if call == same && matches!(right, Known::Test(..)) => {
            Known::Test(call, if and { one.and(other) } else { one.or(other) })
        }
        _ => Known::Unknown,
    }
}
