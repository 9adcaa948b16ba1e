//! Questions to the person.
//!
//! ```text
//! ? AskUserQuestion   Which store?           answered: SQLite   64 s ✓
//!   Which store?   ( ) Postgres   (•) SQLite
//! ```

use super::{ToolView, other, title};
use crate::block::QuestionItem;
use crate::line::{Class, lines};
use crate::outcome::came;
use crate::pieces::{markdown, notice, section};
use crate::texts::gist;
use crate::{Block, Head, Limits, Line};
use tooltrail_model::detail::{Detail, Question, Questions};
use tooltrail_model::transcript::{Level, Story};

/// View of questions to the person.
pub(super) struct QuestionView;

impl ToolView for QuestionView {
    fn name(&self) -> &'static str {
        "question"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Question(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Question(asked) = &call.told.detail else { return Head::default() };
        let facts = if came(call) { facts(asked) } else { Vec::new() };
        Head { icon: "?", name: call.row.tool.into(), title: title(call), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Question(asked) = &call.told.detail else { return Vec::new() };
        let mut body = Vec::new();
        if !asked.questions.is_empty() {
            body.push(Block::Questions { questions: asked.questions.iter().map(question).collect() });
        }
        body.extend(asked.response.iter().map(|text| section("you wrote", true, vec![markdown(text, limits)])));
        body.extend(asked.timed_out.then(|| notice(Level::Warning, "No answer in time.")));
        // Shown raw only if no answer was understood.
        let taken =
            asked.response.is_some() || asked.timed_out || asked.questions.iter().any(|one| one.answered || one.unanswered.is_some());
        if !taken {
            body.extend(other::output(call, limits));
        }
        body
    }
}

/// `answered: SQLite, blue`.
fn facts(asked: &Questions) -> Vec<Line> {
    // Free text counts as an answer beside chosen options.
    let answers: Vec<String> = asked.questions.iter().flat_map(answers).map(|answer| gist(&answer)).collect();
    match (answers.is_empty(), &asked.response, asked.timed_out) {
        (false, _, _) => vec![format!("answered: {}", answers.join(", ")).into()],
        (true, Some(response), _) => vec![format!("answered: {}", gist(response)).into()],
        (true, None, true) => vec!["no answer".into()],
        (true, None, false) => Vec::new(),
    }
}

fn answers(question: &Question) -> Vec<String> {
    let chosen = question.options.iter().filter(|option| option.chosen).map(|option| option.label.clone());
    chosen.chain(question.free.clone()).collect()
}

fn question(question: &Question) -> QuestionItem {
    let option = |choice: &tooltrail_model::detail::Choice| {
        (Line::from(choice.label.as_str()), choice.description.as_deref().map(|text| Line::from(text.replace('\n', " "))), choice.chosen)
    };
    // Notes that the person added to a choice stand below it, dimmed.
    let mut free: Vec<Line> = question.free.iter().flat_map(|text| lines(Class::Plain, text)).collect();
    free.extend(question.notes.iter().flat_map(|text| lines(Class::Dim, text)));
    QuestionItem {
        header: question.header.as_deref().map(Line::from),
        text: question.text.replace('\n', " ").into(),
        multiple: question.multiple,
        options: question.options.iter().map(option).collect(),
        free,
        unanswered: question.unanswered.as_deref().map(Line::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, text_of, worked};
    use tooltrail_model::detail::Choice;
    use tooltrail_model::{Kind, Status};

    fn asked(answered: bool) -> Detail {
        let choice = |label: &str, chosen| Choice { label: label.into(), description: None, chosen: chosen && answered };
        let question = Question {
            text: "Which store?".into(),
            options: vec![choice("Postgres", false), choice("SQLite", true)],
            free: answered.then(|| "in memory".to_owned()),
            answered,
            ..Question::default()
        };
        Detail::Question(Questions { questions: vec![question], ..Questions::default() })
    }

    #[test]
    fn what_was_chosen_is_marked() {
        let call = worked("AskUserQuestion", Kind::Question, asked(true));
        let head = QuestionView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("Which store?", vec!["answered: SQLite, in memory".to_owned()]));
        let body = QuestionView.body(&call, &Limits::PAGE);
        let [Block::Questions { questions }] = body.as_slice() else { panic!("{body:?}") };
        assert_eq!(questions[0].options.iter().map(|(_, _, chosen)| *chosen).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn an_open_question_claims_no_answer() {
        let call = story("AskUserQuestion", Kind::Question, Status::Running, asked(false));
        assert!(QuestionView.head(&call).facts.is_empty());
        assert_eq!(text_of(&QuestionView.body(&call, &Limits::PAGE)), "Which store?\nPostgres\nSQLite\n");
    }
}
