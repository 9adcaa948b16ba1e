//! Seed phrases of wallets.

use crate::rng::Rng;

/// Words of the list of BIP 39, a few of them.
const WORDS: &str = "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire \
    bamboo banana banner bargain barrel basket battle beach bean beauty cabbage cabin cable cactus cage cake camera camp canal cancel candy \
    danger daring dash daughter dawn debate debris decade eagle early earn earth easily echo ecology economy edge fabric faculty fade faint faith \
    gadget galaxy gallery garage garbage garden garlic habit hammer hamster harbor harvest icon identify idle ignore illegal image jacket jaguar \
    jealous jeans jelly jewel kangaroo keen ketchup kidney kingdom ladder lady lake lamp laptop laugh machine magic magnet maid mammal \
    naive napkin narrow nasty nature oak obey object oblige obscure ocean paddle palace panda panel panic quality quantum quarter quick \
    rabbit raccoon radar radio ranch rapid saddle sadness salad salmon salon salute tackle talent tattoo taxi tenant ugly umbrella unable unaware \
    vacant vacuum vague valve vanish wagon walnut warfare warrior yard yellow zebra zero zone zoo";

/// So many words.
pub(super) fn words(len: usize, rng: &mut Rng) -> String {
    let words: Vec<&str> = WORDS.split_ascii_whitespace().collect();
    (0..len).map(|_| rng.pick(&words)).collect::<Vec<_>>().join(" ")
}
