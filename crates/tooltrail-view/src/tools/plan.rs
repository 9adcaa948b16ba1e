//! A plan that is proposed, or the beginning of planning.
//!
//! ```text
//! ▤ ExitPlanMode   rate limiter (6 steps)          approved   32 s ✓
//!   the plan
//! ```

use super::{ToolView, other, title};
use crate::outcome::came;
use crate::pieces::{markdown, notice, section};
use crate::texts::sniffed;
use crate::{Block, Class, Head, Limits, Line, place};
use tooltrail_model::Status;
use tooltrail_model::detail::{Detail, Plan};
use tooltrail_model::transcript::{Level, Story};

/// View of plans.
pub(super) struct PlanView;

impl ToolView for PlanView {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Plan(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Plan(plan) = &call.told.detail else { return Head::default() };
        Head { icon: "▤", name: call.row.tool.into(), title: title(call), facts: facts(call, plan) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Plan(plan) = &call.told.detail else { return Vec::new() };
        let mut body = Vec::new();
        if plan.edited {
            body.push(notice(Level::Info, "You edited the plan; this is the edited version."));
        }
        let path = plan.path.iter().map(|path| (Line::of(Class::Dim, "file"), place::line(call, path)));
        let fields: Vec<(Line, Line)> = path.collect();
        if !fields.is_empty() {
            body.push(Block::Fields { fields });
        }
        body.extend(plan.plan.iter().map(|text| markdown(text, limits)));
        match &plan.message {
            // The message often repeats the plan, so it is folded below it.
            Some(message) if came(call) => body.push(section("what came back", plan.plan.is_none(), vec![sniffed(message, limits)])),
            Some(_) => {}
            None if plan.plan.is_none() => body.extend(other::output(call, limits)),
            None => {}
        }
        body
    }
}

/// Facts for the head. Only a success says that the plan was approved.
fn facts(call: &Story<'_>, plan: &Plan) -> Vec<Line> {
    if !came(call) || plan.enters || call.row.status != Status::Succeeded {
        return Vec::new();
    }
    let edited = plan.edited.then(|| Line::from("edited"));
    std::iter::once(Line::from("approved")).chain(edited).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call;
    use crate::sample::{answered, facts, story, text_of, worked};
    use tooltrail_model::{Kind, Reason};

    fn proposal(edited: bool) -> Detail {
        let plan = Some("# Plan: rate limiter\n\n1. count\n2. limit\n".to_owned());
        Detail::Plan(Plan { plan, edited, ..Plan::default() })
    }

    #[test]
    fn an_approved_plan() {
        let call = worked("ExitPlanMode", Kind::Plan, proposal(true));
        let head = PlanView.head(&call);
        assert_eq!(
            (head.title.text().as_str(), facts(&head.facts)),
            ("rate limiter (2 steps)", vec!["approved".to_owned(), "edited".to_owned()])
        );
        assert!(text_of(&PlanView.body(&call, &Limits::PAGE)).starts_with("You edited the plan"));
    }

    #[test]
    fn a_rejected_plan_shows_what_was_said() {
        let mut call = answered(story("ExitPlanMode", Kind::Plan, Status::Rejected, proposal(false)), "no: smaller");
        call.row.reason = Some(Reason::UserFeedback);
        if let Some(answer) = &mut call.answer {
            answer.feedback = Some("smaller".into());
        }
        assert!(call::head(&call).facts.is_empty());
        let text = text_of(&call::body(&call, &Limits::PAGE));
        assert!(text.starts_with("You declined, and said:\nsmaller\n# Plan: rate limiter\n"), "{text}");
    }
}
