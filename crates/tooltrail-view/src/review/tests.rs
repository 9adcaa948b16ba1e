//! Reviews of invented files: evidence of hunks, what lies between them, limits, white space.

use super::*;
use tooltrail_model::changes::How;
use tooltrail_model::changes::net::{listed, net};

const OPTIONS: ReviewOptions =
    ReviewOptions { limits: Limits { lines: 100, bytes: 10_000, head: 100, highlight: true }, skip: 0, ignore_space: false };

fn step(by: usize, before: &str, after: &str) -> Step {
    Step {
        by,
        path: "a.rs".to_owned(),
        before: FileText::text(before),
        after: FileText::text(after),
        how: How::Edited,
        replayed: false,
        changes: true,
        outside: false,
        hunks: Vec::new(),
        moved: None,
        strength: Strength::Edited,
    }
}

fn numbered(replace: &[(usize, &str)]) -> String {
    let line =
        |number: usize| replace.iter().find(|(at, _)| *at == number).map_or_else(|| number.to_string(), |(_, text)| (*text).to_owned());
    (1..=60).map(|number| format!("{}\n", line(number))).collect()
}

fn review(steps: &[Step], options: &ReviewOptions) -> (Vec<FileNet>, FileReview) {
    let names =
        PatchNames { path: &str::to_owned, left_out: &|_| None, call: &|by| format!("#{by}"), place: &|_| None, whole: "this session" };
    let files = net(steps, |_| true);
    let review = FileReview::of(listed(&files)[0], ReviewSteps { steps, takes: &|_| true }, &names, options);
    (files, review)
}

fn told(review: &FileReview) -> Vec<String> {
    let part = |part: &ReviewPart| match part {
        ReviewPart::Block(Block::Notice { text, .. }) => text.text(),
        ReviewPart::Block(_) => "block".to_owned(),
        ReviewPart::Hunk(hunk) => format!("{} lines by {:?}", hunk.hunk.lines.len(), hunk.calls),
        ReviewPart::Unchanged(lines) => format!("{} unchanged from {}/{}", lines.count, lines.old, lines.new),
    };
    review.parts.iter().map(part).collect()
}

#[test]
fn hunks_are_told_with_their_calls_and_what_is_between() {
    let texts = [numbered(&[]), numbered(&[(10, "ten")]), numbered(&[(10, "ten"), (40, "forty\nand more")])];
    let steps = [step(3, &texts[0], &texts[1]), step(8, &texts[1], &texts[2])];
    let (files, review) = review(&steps, &OPTIONS);
    let expected = ["6 unchanged from 1/1", "8 lines by [3]", "23 unchanged from 14/14", "9 lines by [8]", "17 unchanged from 44/45"];
    assert_eq!(told(&review), expected);
    let ReviewPart::Unchanged(lines) = review.parts[4] else { panic!("no unchanged lines at the end") };
    let rest = unchanged(listed(&files)[0], lines);
    assert_eq!((rest.len(), rest[0].clone(), rest[16].clone()), (17, (45, "44".to_owned()), (61, "60".to_owned())));
    assert!(review.elided.is_none() && !review.only_space);
}

#[test]
fn what_is_too_long_is_cut_and_goes_on_elsewhere() {
    let (old, new) = ((0..50).map(|n| format!("old {n}\n")).collect::<String>(), (0..50).map(|n| format!("new {n}\n")).collect::<String>());
    let steps = [step(1, &old, &new)];
    let short = ReviewOptions { limits: Limits { lines: 30, ..OPTIONS.limits }, ..OPTIONS };
    let (_, first) = review(&steps, &short);
    assert_eq!(
        (told(&first), first.elided.map(|elided| (elided.shown, elided.total))),
        (vec!["30 lines by [1]".to_owned()], Some((30, 100)))
    );
    let (_, next) = review(&steps, &ReviewOptions { skip: 60, ..OPTIONS });
    let ReviewPart::Hunk(hunk) = &next.parts[0] else { panic!("no hunk") };
    assert_eq!((hunk.hunk.lines.len(), hunk.hunk.lines[0].new, hunk.hunk.lines[0].line.text()), (40, Some(11), "new 10".to_owned()));
}

#[test]
fn changes_of_white_space_can_be_left_out() {
    let before = "fn a() {\nlet x = 1;\nlet y = 2;\n}\n";
    let spaced = "fn a() {\n    let x = 1;\n\n    let y = 2;\n}\n";
    let hide = ReviewOptions { ignore_space: true, ..OPTIONS };
    let (_, only) = review(&[step(1, before, spaced)], &hide);
    assert!(only.only_space && !only.parts.iter().any(|part| matches!(part, ReviewPart::Hunk(_))), "{:?}", told(&only));
    let (_, mixed) = review(&[step(1, before, &spaced.replace("= 2", "= 3"))], &hide);
    let ReviewPart::Hunk(hunk) = &mixed.parts[0] else { panic!("{:?}", told(&mixed)) };
    let lines: Vec<String> = hunk.hunk.lines.iter().map(|line| line.line.text().trim().to_owned()).collect();
    assert!(
        !mixed.only_space && lines.contains(&"let y = 3;".to_owned()) && lines.iter().filter(|line| line.contains("let x")).count() == 1,
        "{lines:?}"
    );
}
