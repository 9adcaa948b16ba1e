//! `AskUserQuestion`: questions to the person, and their answers.

use super::super::content::text;
use super::ToolCall;
use serde_json::{Map, Value};
use tooltrail_model::detail::{Choice, Detail, Question, Questions};

/// `AskUserQuestion`.
pub(super) fn read(call: &mut ToolCall<'_>) -> Detail {
    let asked = call.input.take("questions", questions).or_else(|| single(call));
    let repeated = call.produced.take("questions", questions);
    let mut questions = asked.or(repeated).unwrap_or_default();
    let answers = call.produced.take("answers", Value::as_object);
    let notes = call.produced.take("annotations", Value::as_object);
    let response = call.produced.string("response").filter(|text| !text.is_empty());
    // The waiting time is left over, to be shown.
    let timed_out = call.produced.peek("afkTimeoutMs").is_some();
    // Structured answers are exact; the text is used only without them.
    let spoken = call.answer().filter(|_| answers.is_none());
    let said = spoken.as_deref().map(|text| said(text, &questions)).unwrap_or_default();
    for (at, question) in questions.iter_mut().enumerate() {
        match answers {
            Some(answers) => answer(question, answers.get(&question.text)),
            None => {
                let (given, notes) = said.get(at).cloned().flatten().unzip();
                answer(question, given.as_ref());
                question.notes = notes.flatten();
            }
        }
        note(question, notes);
    }
    Detail::Question(Questions { questions, response, timed_out })
}

/// An older spelling: one question, without a list.
fn single(call: &mut ToolCall<'_>) -> Option<Vec<Question>> {
    let question = call.input.string("question")?;
    let options = call.input.take("options", choices).unwrap_or_default();
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

/// One question, not answered yet.
fn question(value: &Value) -> Question {
    Question {
        header: text(value, "header").map(str::to_owned),
        text: text(value, "question").unwrap_or_default().to_owned(),
        multiple: value.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
        options: value.get("options").and_then(choices).unwrap_or_default(),
        ..Question::default()
    }
}

/// The options of a question; a bare text is a label.
fn choices(value: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value| Choice {
        label: value.as_str().or(text(value, "label")).unwrap_or_default().to_owned(),
        description: text(value, "description").filter(|text| !text.is_empty()).map(str::to_owned),
        chosen: false,
    };
    Some(value.as_array()?.iter().map(choice).collect())
}

/// Marks the chosen options; an answer that is no option is the person's own words.
fn answer(question: &mut Question, given: Option<&Value>) {
    let words = match given {
        Some(Value::String(text)) if text.is_empty() => return,
        // Only then may a comma separate answers.
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
    // The longest first: one label may begin like another.
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let (mut out, mut own) = (Vec::new(), Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        let ends = |label: &str| rest.strip_prefix(label).is_some_and(|after| after.is_empty() || after.starts_with(", "));
        let label = labels.iter().find(|label| ends(label));
        let (part, after) = rest.split_at(label.map_or_else(|| rest.find(", ").unwrap_or(rest.len()), |label| label.len()));
        if label.is_some() {
            out.push(part.to_owned())
        } else {
            own.push(part)
        }
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    out.extend((!own.is_empty()).then(|| own.join(", ")));
    out
}

/// Adds the person's note on an answer, or the reason why there is none.
fn note(question: &mut Question, notes: Option<&Map<String, Value>>) {
    let Some(note) = notes.and_then(|notes| notes.get(&question.text)) else { return };
    question.notes = text(note, "notes").filter(|text| !text.is_empty()).map(str::to_owned).or(question.notes.take());
    question.unanswered = text(note, "unanswered").map(str::to_owned);
}

/// An answer as the text has it, with the person's notes.
type SpokenAnswer = Option<(Value, Option<String>)>;

/// The answers in `User has answered your questions: "Q"="A", "Q2"="B" user notes: n. You can now continue …`. Questions and answers may
/// hold quotes, so each answer is looked for behind its own question and ends before the next one's.
fn said(words: &str, questions: &[Question]) -> Vec<SpokenAnswer> {
    let begin = |question: &Question| format!("\"{}\"=\"", question.text);
    let starts: Vec<Option<usize>> = questions.iter().map(|question| words.find(&begin(question))).collect();
    let end = words.rfind(". You can now continue").unwrap_or(words.len());
    let answer = |(at, question): (usize, &Question)| {
        let start = starts.get(at).copied().flatten()? + begin(question).len();
        // Questions may be answered in another order, so the end is the nearest later start.
        let next = starts.iter().flatten().copied().filter(|other| *other > start).min();
        let whole = words.get(start..next.unwrap_or(end))?;
        let whole = if next.is_some() { whole.trim_end().trim_end_matches(',') } else { whole };
        let (whole, notes) = match whole.split_once("\" user notes: ") {
            Some((answer, notes)) => (answer, Some(notes.trim().to_owned())),
            None => (whole.rsplit_once('"').map_or(whole, |(answer, _)| answer), None),
        };
        let own = whole.split("\" selected preview:").next().unwrap_or(whole);
        Some((Value::String(own.to_owned()), notes))
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
        let words = r#"User has answered your questions: "Say "hi"?"="Yes, "loud"", "Which?"="A" user notes: or B. You can now continue with the user's answers in mind."#;
        let found = said(words, &[ask("Say \"hi\"?"), ask("Which?"), ask("Missing?")]);
        let expected = [Some((Value::from("Yes, \"loud\""), None)), Some((Value::from("A"), Some("or B".to_owned()))), None];
        assert_eq!(found, expected);
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
