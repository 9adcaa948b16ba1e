//! The 256 colours of a terminal as style rules that can be read on both themes, and any other colour as the nearest of them.
//!
//! A page may carry no style of its own per element (its policy forbids that), so colours are classes: `f9` for a text, `b9` for a
//! ground. The first 16 are chosen by hand; the others keep their hue and are moved towards black or white until they can be read.

use crate::line::Color;
use std::fmt::Write;

type Rgb = [u8; 3];

/// The ground of program output, light and dark.
const GROUND: [Rgb; 2] = [[0xf6, 0xf8, 0xfa], [0x17, 0x1c, 0x21]];
/// Minimum contrast of a text (WCAG AA).
const LEAST: f64 = 4.5;

/// The first 16 as texts, light and dark.
const NAMED: [[Rgb; 2]; 16] = [
    [[0x1b, 0x1f, 0x24], [0x8c, 0x97, 0xa3]],
    [[0xb3, 0x26, 0x1e], [0xff, 0x8a, 0x80]],
    [[0x16, 0x6b, 0x2e], [0x5f, 0xd0, 0x7f]],
    [[0x6f, 0x4e, 0x00], [0xe8, 0xc4, 0x60]],
    [[0x0a, 0x58, 0xca], [0x7f, 0xb4, 0xff]],
    [[0x8a, 0x2b, 0x8f], [0xe2, 0xa0, 0xf0]],
    [[0x0b, 0x6b, 0x6b], [0x7f, 0xd6, 0xd6]],
    [[0x59, 0x63, 0x6e], [0xd0, 0xd7, 0xde]],
    [[0x59, 0x63, 0x6e], [0xa3, 0xad, 0xb8]],
    [[0xc4, 0x2b, 0x22], [0xff, 0xa8, 0xa0]],
    [[0x1a, 0x7a, 0x37], [0x86, 0xe5, 0x9f]],
    [[0x8a, 0x4b, 0x00], [0xff, 0xd9, 0x7a]],
    [[0x24, 0x6b, 0xd6], [0xa8, 0xcc, 0xff]],
    [[0xa1, 0x35, 0xa8], [0xf0, 0xc0, 0xfa]],
    [[0x0e, 0x74, 0x7c], [0xa5, 0xec, 0xec]],
    [[0x3a, 0x42, 0x4b], [0xff, 0xff, 0xff]],
];

/// The class number of a colour.
pub(super) fn index(color: Color) -> u8 {
    match color {
        Color::Index(index) => index,
        Color::Rgb(r, g, b) => nearest([r, g, b]),
    }
}

/// The rules of all classes.
pub(super) fn css() -> String {
    let mut css = String::with_capacity(20_000);
    for index in 0..=255u8 {
        let [light, dark] = texts(index);
        let ground = plain(index);
        // On a coloured ground the text is black or white, so grounds need no second palette for the dark theme.
        let text = if contrast(ground, [0; 3]) >= contrast(ground, [255; 3]) { "#000" } else { "#fff" };
        _ = write!(css, ".f{index}{{color:light-dark({},{})}}", hex(light), hex(dark));
        _ = write!(css, ".b{index}{{background:{};color:{text}}}", hex(ground));
    }
    css
}

/// A colour as text, for the light and the dark theme.
fn texts(index: u8) -> [Rgb; 2] {
    // The classic 16 carry meaning (red, green), so they are tuned by hand instead of being computed.
    if let Some(named) = NAMED.get(usize::from(index)) {
        return *named;
    }
    let [light, dark] = GROUND;
    [readable(plain(index), light, [0; 3]), readable(plain(index), dark, [255; 3])]
}

/// The colour of that number, as xterm defines it.
fn plain(index: u8) -> Rgb {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |n: u8| STEPS.get(usize::from(n % 6)).copied().unwrap_or(0);
    match index {
        // Bits of the index are red, green and blue.
        0..8 => [0, 1, 2].map(|bit| if index >> bit & 1 == 1 { 0xcd } else { 0 }),
        8 => [0x7f; 3],
        9..16 => [0, 1, 2].map(|bit| if (index - 8) >> bit & 1 == 1 { 0xff } else { 0 }),
        // A cube of 6 × 6 × 6 colours.
        16..232 => [step((index - 16) / 36), step((index - 16) / 6), step(index - 16)],
        // 24 shades of grey.
        232.. => [8 + 10 * (index - 232); 3],
    }
}

/// Number of the nearest colour, from 16 on: the first 16 differ between terminals.
fn nearest(color: Rgb) -> u8 {
    let far = |index: &u8| -> u32 { plain(*index).iter().zip(color).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    (16..=255u8).min_by_key(far).unwrap_or(16)
}

/// The colour, moved towards `pole` until it can be read on `ground`.
fn readable(color: Rgb, ground: Rgb, pole: Rgb) -> Rgb {
    // 32 steps are fine enough that neighbours look the same.
    let mixed = |step: u32| {
        let mut mixed = color;
        for (part, pole) in mixed.iter_mut().zip(pole) {
            *part = u8::try_from((u32::from(*part) * (32 - step) + u32::from(pole) * step) / 32).unwrap_or(pole);
        }
        mixed
    };
    (0..=32).map(mixed).find(|color| contrast(*color, ground) >= LEAST).unwrap_or(pole)
}

/// Contrast of two colours as defined by WCAG.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

// Relative luminance of sRGB; the constants are those of WCAG.
fn luminance(color: Rgb) -> f64 {
    let [r, g, b] = color.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_can_be_read() {
        for index in 0..=255u8 {
            for (text, ground) in texts(index).into_iter().zip(GROUND) {
                let contrast = contrast(text, ground);
                assert!(contrast >= LEAST, "colour {index} has {contrast:.2}");
            }
        }
    }

    #[test]
    fn any_colour_has_a_number() {
        assert_eq!(index(Color::Rgb(255, 0, 0)), 196);
        assert_eq!(index(Color::Rgb(8, 8, 8)), 232);
        assert_eq!(index(Color::Index(3)), 3);
        assert_eq!(plain(9), [255, 0, 0]);
        assert_eq!(plain(255), [238; 3]);
    }
}
