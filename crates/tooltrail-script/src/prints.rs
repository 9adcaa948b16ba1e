//! Pieces of what a program prints.

use crate::literals;
use crate::values::{HeapValue, Known};
use crate::walk::Reader;
use serde_json::Value;
use tooltrail_model::script::{Condition, Piece, Print, ResultPart, States};

/// Most texts that one print is taken apart into.
const MOST_TEXTS: usize = 16;
/// Deepest nesting of lists and objects that is printed.
const DEEPEST: usize = 8;

/// What was assumed about results while a text was put together.
type Assumptions = Vec<(usize, States, bool)>;

impl Reader<'_> {
    /// Takes note of a printed value.
    pub(crate) fn print(&mut self, value: &Known) {
        if self.is_loose() || self.blind {
            self.loosen();
            return;
        }
        let mut open: Vec<Assumptions> = vec![Vec::new()];
        let mut texts = Vec::new();
        while let Some(assumed) = open.pop() {
            match self.pieces(value, &assumed) {
                Ok(pieces) => texts.push((assumed, pieces)),
                Err((call, states)) => {
                    for holds in [false, true] {
                        let mut more = assumed.clone();
                        more.push((call, states, holds));
                        open.push(more);
                    }
                }
            }
            if texts.len() + open.len() > MOST_TEXTS {
                texts = vec![(Vec::new(), vec![Piece::Unknown])];
                break;
            }
        }
        for (assumed, pieces) in texts {
            let mut when = self.path.clone();
            when.extend(assumed.iter().map(|(call, states, holds)| {
                let states = if *holds { *states } else { states.others() };
                Condition::Result { call: *call, states }
            }));
            if !self.spend(pieces.len() * 64) {
                self.loosen();
                return;
            }
            self.script.prints.push(Print { pieces, when });
        }
    }

    /// Pieces of a printed value, or the result on which they depend.
    fn pieces(&self, value: &Known, assumed: &Assumptions) -> Result<Vec<Piece>, (usize, States)> {
        match value {
            Known::Either(call, states, both) => self.pieces(chosen(*call, *states, both, assumed)?, assumed),
            Known::Test(call, states) => {
                let truth = assumption(*call, *states, assumed).ok_or((*call, *states))?;
                Ok(vec![Piece::Literal(truth.to_string())])
            }
            Known::Text(pieces) => Ok(pieces.to_vec()),
            Known::Literal(literal) => Ok(vec![literals::shown(literal).map_or(Piece::Unknown, Piece::Literal)]),
            Known::Result(_) | Known::Part(..) | Known::Heap(_) => Ok(vec![self.piece(value, assumed, 0)?]),
            _ => Ok(vec![Piece::Unknown]),
        }
    }

    /// Piece of a value in JSON.
    pub(crate) fn piece(&self, value: &Known, assumed: &Assumptions, depth: usize) -> Result<Piece, (usize, States)> {
        if !self.spend(16) {
            return Ok(Piece::Unknown);
        }
        Ok(match value {
            Known::Either(call, states, both) => self.piece(chosen(*call, *states, both, assumed)?, assumed, depth)?,
            Known::Result(call) => Piece::Result { call: *call, part: ResultPart::Whole },
            Known::Part(call, name) => Piece::Result { call: *call, part: ResultPart::Member(name.to_string()) },
            Known::Heap(at) if depth < DEEPEST => match self.heap.get(*at) {
                Some(HeapValue::Array(elements)) => {
                    Piece::Array(elements.iter().map(|element| self.piece(element, assumed, depth + 1)).collect::<Result<_, _>>()?)
                }
                Some(HeapValue::Object(members, _)) => {
                    let piece =
                        |(name, member): &(std::rc::Rc<str>, Known)| Ok((name.to_string(), self.piece(member, assumed, depth + 1)?));
                    Piece::Object(members.iter().map(piece).collect::<Result<_, _>>()?)
                }
                _ => Piece::Unknown,
            },
            Known::Literal(Value::String(text)) => Piece::Literal(text.clone()),
            _ => Piece::Unknown,
        })
    }

    /// The text of a value within a template or a sum, if it is one text.
    pub(crate) fn in_text(&self, value: &Known) -> Vec<Piece> {
        match value {
            Known::Text(pieces) => pieces.to_vec(),
            Known::Literal(literal) => vec![literals::shown(literal).map_or(Piece::Unknown, Piece::Literal)],
            Known::Undefined => vec![Piece::Literal("undefined".to_owned())],
            Known::Part(call, name) => vec![Piece::Result { call: *call, part: ResultPart::Member(name.to_string()) }],
            _ => vec![Piece::Unknown],
        }
    }
}

/// The side of a value that an assumption chooses.
fn chosen<'v>(call: usize, states: States, both: &'v (Known, Known), assumed: &Assumptions) -> Result<&'v Known, (usize, States)> {
    let holds = assumption(call, states, assumed).ok_or((call, states))?;
    Ok(if holds { &both.0 } else { &both.1 })
}

fn assumption(call: usize, states: States, assumed: &Assumptions) -> Option<bool> {
    assumed.iter().find(|known| (known.0, known.1) == (call, states)).map(|known| known.2)
}
