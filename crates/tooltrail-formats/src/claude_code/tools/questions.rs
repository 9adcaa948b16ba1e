//! `AskUserQuestion`: questions to the person, and which of the answers they chose.

use super::super::content::text;
use super::Told;
use serde_json::{Map, Value};
use tooltrail_model::detail::{Choice, Detail, Question, Questions};

pub(super) fn read(told: &mut Told<'_>) -> Detail {
    let asked = told.input.take("questions", questions).or_else(|| single(told));
    let repeated = told.produced.take("questions", questions);
    let mut questions = asked.or(repeated).unwrap_or_default();
    let answers = told.produced.take("answers", Value::as_object);
    let notes = told.produced.take("annotations", Value::as_object);
    let response = told.produced.string("response").filter(|text| !text.is_empty());
    // How long it waited is left over, to be shown.
    let timed_out = told.produced.peek("afkTimeoutMs").is_some();
    let spoken = told.answer().filter(|_| answers.is_none());
    let said = spoken.as_deref().map(|text| said(text, &questions)).unwrap_or_default();
    for (at, question) in questions.iter_mut().enumerate() {
        match answers {
            Some(answers) => answer(question, answers.get(&question.text)),
            None => answer(question, said.get(at).and_then(Option::as_ref)),
        }
        note(question, notes);
    }
    Detail::Question(Questions { questions, response, timed_out })
}

/// An older spelling: one question, without a list.
fn single(told: &mut Told<'_>) -> Option<Vec<Question>> {
    let question = told.input.string("question")?;
    let options = told.input.take("options", choices).unwrap_or_default();
    Some(vec![Question { text: question, options, ..Question::default() }])
}

/// The questions; some models write the list into a text.
fn questions(value: &Value) -> Option<Vec<Question>> {
    match value {
        Value::Array(list) => Some(list.iter().map(question).collect()),
        Value::String(text) => questions(&serde_json::from_str(text).ok().filter(Value::is_array)?),
        _ => None,
    }
}

fn question(value: &Value) -> Question {
    Question {
        header: text(value, "header").map(str::to_owned),
        text: text(value, "question").unwrap_or_default().to_owned(),
        multiple: value.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
        options: value.get("options").and_then(choices).unwrap_or_default(),
        ..Question::default()
    }
}

fn choices(value: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value| Choice {
        label: value.as_str().or(text(value, "label")).unwrap_or_default().to_owned(),
        description: text(value, "description").filter(|text| !text.is_empty()).map(str::to_owned),
        chosen: false,
    };
    Some(value.as_array()?.iter().map(choice).collect())
}

/// Marks what was chosen; what is no option is the person's own words.
fn answer(question: &mut Question, given: Option<&Value>) {
    let words = match given {
        Some(Value::String(text)) if question.multiple => parts(text, &question.options),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return,
    };
    question.answered = true;
    let mut free = Vec::new();
    for word in words {
        match question.options.iter_mut().find(|option| option.label == word) {
            Some(option) => option.chosen = true,
            None => free.push(word),
        }
    }
    question.free = (!free.is_empty()).then(|| free.join(", ")).filter(|text| !text.is_empty());
}

/// Several answers are joined by commas, which labels and own words may hold too: labels are taken off the front, the longest first.
fn parts(text: &str, options: &[Choice]) -> Vec<String> {
    let mut labels: Vec<&str> = options.iter().map(|option| option.label.as_str()).filter(|label| !label.is_empty()).collect();
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    let mut own = String::new();
    while !rest.is_empty() {
        let label = labels.iter().find(|label| rest.strip_prefix(**label).is_some_and(|after| after.is_empty() || after.starts_with(", ")));
        let (part, after) = match label {
            Some(label) => rest.split_at(label.len()),
            None => rest.split_at(rest.find(", ").unwrap_or(rest.len())),
        };
        match label {
            Some(_) => out.push(part.to_owned()),
            None if own.is_empty() => own.push_str(part),
            None => own = format!("{own}, {part}"),
        }
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    out.extend((!own.is_empty()).then_some(own));
    out
}

/// What the person wrote beside an answer, and why there is none.
fn note(question: &mut Question, notes: Option<&Map<String, Value>>) {
    let Some(note) = notes.and_then(|notes| notes.get(&question.text)) else { return };
    question.notes = text(note, "notes").filter(|text| !text.is_empty()).map(str::to_owned);
    question.unanswered = text(note, "unanswered").map(str::to_owned);
}

/// The answers in `User has answered your questions: "Q"="A", "Q2"="B". You can now continue …`. Questions and answers may hold quotes,
/// so each answer is looked for behind its own question and ends before the next one's.
fn said(words: &str, questions: &[Question]) -> Vec<Option<Value>> {
    let begin = |question: &Question| format!("\"{}\"=\"", question.text);
    let starts: Vec<Option<usize>> = questions.iter().map(|question| words.find(&begin(question))).collect();
    let answer = |(at, question): (usize, &Question)| {
        let start = starts.get(at).copied().flatten()? + begin(question).len();
        let next = starts.iter().flatten().copied().filter(|other| *other > start).min();
        let rest = words.get(start..next.unwrap_or(words.len()))?;
        let end = match next {
            Some(_) => rest.rfind('"'),
            None => rest.rfind("\". You can now continue").or_else(|| rest.rfind('"')),
        };
        // Notes and previews stand behind the closing quote.
        let whole = rest.get(..end.unwrap_or(rest.len()))?;
        let own = ["\" user notes: ", "\" selected preview:"].iter().filter_map(|mark| whole.find(mark)).min().unwrap_or(whole.len());
        whole.get(..own).map(|answer| Value::String(answer.to_owned()))
    };
    questions.iter().enumerate().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Question {
        Question { text: text.to_owned(), ..Question::default() }
    }

    #[test]
    fn answers_are_found_behind_their_questions() {
        let words = r#"User has answered your questions: "Say "hi"?"="Yes, "loud"", "Which?"="A". You can now continue with the user's answers in mind."#;
        let found = said(words, &[ask("Say \"hi\"?"), ask("Which?"), ask("Missing?")]);
        assert_eq!(found, [Some(Value::from("Yes, \"loud\"")), Some(Value::from("A")), None]);
    }

    #[test]
    fn several_answers_are_taken_apart() {
        let option = |label: &str| Choice { label: label.to_owned(), ..Choice::default() };
        let mut question = Question { multiple: true, options: vec![option("A, fast"), option("A"), option("B")], ..Question::default() };
        answer(&mut question, Some(&Value::from("A, fast, B, my own, idea")));
        let chosen: Vec<bool> = question.options.iter().map(|option| option.chosen).collect();
        assert_eq!(chosen, [true, false, true]);
        assert_eq!(question.free.as_deref(), Some("my own, idea"));
    }
}
