//! Changes texts that are pieces of one: lines of a hunk, of a notebook's cell or of a list. A secret that goes over several lines is
//! seen only where they stand together. Used by what changes the values of records (`value.rs`) and the hunks of changes.

use crate::value::RedactFn;

/// Stands before a piece, with its number, while they are together. A letter for private use, so hardly in a text; where it is,
/// texts may come back in other pieces, which shows nothing that was taken out.
const MARK: &str = "\n\u{f8f0}";

/// Changes each of these texts, then all of them as one. Where a replacement covers several texts, the first keeps it and the others are
/// left empty, but for the sign of a patch's line.
pub(crate) fn change(mut texts: Vec<&mut String>, how: &RedactFn<'_>) {
    for text in &mut texts {
        **text = how(std::mem::take(*text));
    }
    again(texts, how);
}

/// Changes texts as one that were already changed one by one.
pub(crate) fn again(texts: Vec<&mut String>, how: &RedactFn<'_>) {
    if texts.len() < 2 {
        return;
    }
    let whole = join(&texts);
    // Compared first: nearly no text has anything to take out, and then the pieces stay exactly as they are.
    let changed = how(whole.clone());
    if changed == whole {
        return;
    }
    let mut pieces = split(&changed, texts.len());
    for (number, text) in texts.into_iter().enumerate() {
        // A line of a patch without its sign would no longer parse as a patch.
        let left = || text.chars().next().filter(|sign| matches!(sign, '+' | '-' | ' ')).map(String::from);
        *text = pieces.get_mut(number).and_then(Option::take).or_else(left).unwrap_or_default();
    }
}

/// The texts, each behind its mark.
fn join(texts: &[&mut String]) -> String {
    let mut whole = String::with_capacity(texts.iter().map(|text| text.len() + 12).sum());
    for (number, text) in texts.iter().enumerate() {
        whole.extend([MARK, &number.to_string(), "\t", text.as_str()]);
    }
    whole
}

/// The new text of each piece; `None` where it was merged into the one before.
fn split(whole: &str, count: usize) -> Vec<Option<String>> {
    let mut pieces: Vec<Option<String>> = vec![None; count];
    let mut last: Option<usize> = None;
    for piece in whole.split(MARK).skip(1) {
        let marked = piece.split_once('\t').and_then(|(number, text)| Some((number.parse::<usize>().ok()?, text)));
        // Numbers have to rise: a mark that was in the text already cannot send words to an earlier piece.
        match marked.filter(|(number, _)| *number < count && last.is_none_or(|last| *number > last)) {
            Some((number, text)) => {
                pieces[number] = Some(text.to_owned());
                last = Some(number);
            }
            // The mark was in the text itself, so the words belong to the piece before.
            None => pieces[last.unwrap_or(0)].get_or_insert_default().extend([MARK, piece]),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes from `BEGIN` to `END`, and the word `secret`.
    fn without(text: String) -> String {
        let text = text.replace("secret", "***");
        match (text.find("BEGIN"), text.find("END")) {
            (Some(from), Some(to)) if from < to => format!("{}[gone]{}", &text[..from], &text[to + 3..]),
            _ => text,
        }
    }

    fn changed(texts: &[&str]) -> Vec<String> {
        let mut texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        change(texts.iter_mut().collect(), &without);
        texts
    }

    #[test]
    fn what_goes_over_several_texts_goes() {
        assert_eq!(changed(&[" a", "+ BEGIN", "+x", "-y", "z", "+END b", "+c secret"]), [" a", "+ [gone] b", "+", "-", "", "+", "+c ***"]);
        assert_eq!(changed(&["BEGIN", "END"]), ["[gone]", ""]);
    }

    #[test]
    fn other_texts_stay_in_their_places() {
        assert_eq!(changed(&["a\nb\n", "", "1\tsecret"]), ["a\nb\n", "", "1\t***"]);
        // Marks in a text, before something that goes.
        assert_eq!(changed(&["\n\u{f8f0}9\ta", "\n\u{f8f0}0\tb", "BEGIN", "END"]), ["\n\u{f8f0}9\ta", "\n\u{f8f0}0\tb", "[gone]", ""]);
        assert!(changed(&[]).is_empty());
    }
}
