//! Instructions that are loaded.
//!
//! ```text
//! ✦ Skill   review  --fast                 5 ms ✓
//!   may use   Bash(git:*)
//! ```

use super::{ToolView, other};
use crate::outcome::came;
use crate::pieces::FieldList;
use crate::texts::{gist, sniffed};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of skills that are loaded.
pub(super) struct SkillView;

impl ToolView for SkillView {
    fn name(&self) -> &'static str {
        "skill"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Skill(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Skill(skill) = &call.told.detail else { return Head::default() };
        let name = Line::of(Class::Strong, &skill.name);
        let title = match skill.arguments.as_deref().map(gist).filter(|words| !words.is_empty()) {
            Some(words) => name.with(Class::Plain, "  ").with(Class::Plain, &words),
            None => name,
        };
        Head { icon: "✦", name: call.row.tool.into(), title, facts: Vec::new() }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Skill(skill) = &call.told.detail else { return Vec::new() };
        let mut fields = FieldList::default();
        fields.add("name", &skill.name);
        let arguments = skill.arguments.as_deref();
        // Arguments of several lines do not fit into a table and stand below it.
        fields.add_some("arguments", arguments.filter(|words| !words.contains('\n')));
        fields.add_some("may use", Some(skill.allowed.join(", ")).filter(|tools| !tools.is_empty()).as_deref());
        let mut body: Vec<Block> = fields.block().into_iter().collect();
        body.extend(arguments.filter(|words| words.contains('\n')).map(|words| sniffed(words, limits)));
        // A message without a success is an error, which the frame shows.
        match &skill.message {
            Some(message) if came(call) => body.push(sniffed(message, limits)),
            Some(_) => {}
            None => body.extend(other::output(call, limits)),
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{text_of, worked};
    use tooltrail_model::{Kind, detail};

    #[test]
    fn instructions_by_name() {
        let skill = detail::Skill {
            name: "review".into(),
            arguments: Some("--fast".into()),
            allowed: vec!["Bash".into(), "Read".into()],
            message: Some("Launching".into()),
        };
        let call = worked("Skill", Kind::Skill, Detail::Skill(skill));
        assert_eq!(SkillView.head(&call).title.text(), "review  --fast");
        assert_eq!(text_of(&SkillView.body(&call, &Limits::PAGE)), "review\n--fast\nBash, Read\nLaunching\n");
    }
}
