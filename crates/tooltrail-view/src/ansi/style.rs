//! Colours and weights, as set by `CSI … m`.

use crate::line::{Ansi, Color};
use anstyle_parse::Params;

/// Text without colours.
pub(super) const PLAIN: Ansi =
    Ansi { fg: None, bg: None, bold: false, dim: false, italic: false, underline: false, strike: false, inverse: false };

/// Applies a sequence to a style. Unknown numbers are ignored.
pub(super) fn apply(style: &mut Ansi, params: &Params) {
    let mut params = params.iter();
    while let Some(param) = params.next() {
        let Some((&code, details)) = param.split_first() else { continue };
        match code {
            0 => *style = PLAIN,
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            // `4:0` is no underline; `4:3` is a wavy one.
            4 => style.underline = details.first() != Some(&0),
            7 => style.inverse = true,
            9 => style.strike = true,
            21 => style.underline = true,
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.inverse = false,
            29 => style.strike = false,
            30..=37 => style.fg = index(code - 30),
            38 => set(&mut style.fg, color(details, &mut params)),
            39 => style.fg = None,
            40..=47 => style.bg = index(code - 40),
            48 => set(&mut style.bg, color(details, &mut params)),
            49 => style.bg = None,
            // The colour of an underline is not shown, but its parameters must not be taken for others.
            58 => drop(color(details, &mut params)),
            90..=97 => style.fg = index(code - 90 + 8),
            100..=107 => style.bg = index(code - 100 + 8),
            _ => {}
        }
    }
}

/// Sets a colour; one that cannot be read changes nothing.
fn set(place: &mut Option<Color>, color: Option<Color>) {
    *place = color.or(*place);
}

fn index(number: u16) -> Option<Color> {
    u8::try_from(number).ok().map(Color::Index)
}

/// A colour of several numbers: `38:5:208`, `38:2::255:128:0`, `38:2:255:128:0`, or the same with `;` between them.
fn color<'p>(details: &[u16], rest: &mut impl Iterator<Item = &'p [u16]>) -> Option<Color> {
    let byte = |number: u16| u8::try_from(number).ok();
    if let Some((kind, numbers)) = details.split_first() {
        return match (kind, numbers) {
            (5, [number, ..]) => index(*number),
            // An optional colour space, mostly empty, may stand before the three numbers.
            (2, [_, red, green, blue, ..]) | (2, [red, green, blue]) => Some(Color::Rgb(byte(*red)?, byte(*green)?, byte(*blue)?)),
            _ => None,
        };
    }
    // With `;` the numbers are separate parameters and are taken from the rest of the sequence.
    let mut next = || rest.next().and_then(|param| param.first().copied());
    match next()? {
        5 => index(next()?),
        2 => {
            let (red, green, blue) = (next()?, next()?, next()?);
            Some(Color::Rgb(byte(red)?, byte(green)?, byte(blue)?))
        }
        _ => None,
    }
}
