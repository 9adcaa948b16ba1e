//! `request_user_input`: questions with choices. The answer is JSON in a string, by the question's id:
//! `{"answers":{"store":{"answers":["SQLite","user_note: for now"]}}}`.

use super::CodexCall;
use super::bag::text_in;
use crate::codex::content::json;
use serde_json::Value;
use tooltrail_model::detail::{Choice, Detail, Question, Questions};

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let body = call.header.body.trim();
    let answer = json(body);
    let answers = answer.as_ref().and_then(|answer| answer.get("answers"));
    let mut questions: Vec<Question> = call.input.list(&["questions"]).iter().map(|question| one(question, answers)).collect();
    if answer.is_none() && !body.is_empty() {
        // A text instead of answers says why there are none.
        questions.iter_mut().for_each(|question| question.unanswered = Some(body.to_owned()));
    }
    Detail::Question(Questions { questions, ..Questions::default() })
}

fn one(asked: &Value, answers: Option<&Value>) -> Question {
    let id = text_in(asked, &["id"]).unwrap_or_default();
    let given = answers.and_then(|answers| answers.get(&id));
    let given = given.and_then(|given| given.get("answers").unwrap_or(given).as_array());
    let given: Vec<&str> = given.into_iter().flatten().filter_map(Value::as_str).collect();
    let notes: Vec<&str> = given.iter().filter_map(|answer| answer.strip_prefix("user_note: ")).collect();
    let chosen: Vec<&str> = given.iter().copied().filter(|answer| !answer.starts_with("user_note: ")).collect();
    let options = asked.get("options").and_then(Value::as_array).into_iter().flatten();
    let options: Vec<Choice> = options.map(|option| choice(option, &chosen)).collect();
    let free: Vec<&str> = chosen.iter().copied().filter(|answer| options.iter().all(|option| option.label != *answer)).collect();
    let filled = |texts: Vec<&str>| (!texts.is_empty()).then(|| texts.join("\n"));
    Question {
        header: text_in(asked, &["header"]),
        text: text_in(asked, &["question"]).unwrap_or_default(),
        multiple: false,
        options,
        free: filled(free),
        notes: filled(notes),
        unanswered: None,
        answered: !given.is_empty(),
    }
}

/// An option is an object, or in some versions only its name.
fn choice(option: &Value, chosen: &[&str]) -> Choice {
    let label = option.as_str().map(str::to_owned).or_else(|| text_in(option, &["label"])).unwrap_or_default();
    let description = text_in(option, &["description"]);
    Choice { chosen: chosen.contains(&&*label), label, description }
}
