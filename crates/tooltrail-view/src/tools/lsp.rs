//! A question to a language server.
//!
//! ```text
//! λ LSP   goToDefinition src/a.rs:10:4       1 result, 1 file   40 ms ✓
//!   the answer
//! ```

use super::{ToolView, other};
use crate::head::counted;
use crate::outcome::came;
use crate::texts::sniffed;
use crate::{Block, Class, Head, Limits, Line, place};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of requests to a language server.
pub(super) struct LspView;

impl ToolView for LspView {
    fn name(&self) -> &'static str {
        "lsp"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Lsp(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Lsp(lsp) = &call.told.detail else { return Head::default() };
        // Operation, file, position and query are each optional, depending on the operation.
        let mut title = Line::from(lsp.operation.as_str());
        if let Some(path) = &lsp.path {
            title = title.with(Class::Plain, " ").with(Class::Path, place::relative(call, path));
        }
        if let Some((line, column)) = lsp.position {
            title = title.with(Class::Dim, &format!(":{line}:{column}"));
        }
        if let Some(query) = &lsp.query {
            title = title.with(Class::Plain, &format!(" \"{query}\""));
        }
        let fact = lsp.found.filter(|_| came(call)).map(|(found, files)| {
            let files = files.map(|files| format!(", {}", counted(files, "file"))).unwrap_or_default();
            format!("{}{files}", counted(found, "result"))
        });
        Head { icon: "λ", name: call.row.tool.into(), title, facts: fact.into_iter().map(Line::from).collect() }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Lsp(lsp) = &call.told.detail else { return Vec::new() };
        match &lsp.answer {
            Some(answer) => vec![sniffed(answer, limits)],
            None => other::output(call, limits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, text_of, worked};
    use tooltrail_model::{Kind, detail};

    #[test]
    fn a_question_and_its_answer() {
        let lsp = detail::Lsp {
            operation: "goToDefinition".into(),
            path: Some("/srv/app/src/a.rs".into()),
            position: Some((10, 4)),
            answer: Some("src/b.rs:3:1".into()),
            found: Some((1, Some(1))),
            ..detail::Lsp::default()
        };
        let call = worked("LSP", Kind::Other, Detail::Lsp(lsp));
        let head = LspView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("goToDefinition src/a.rs:10:4", vec!["1 result, 1 file".to_owned()]));
        assert_eq!(text_of(&LspView.body(&call, &Limits::PAGE)), "src/b.rs:3:1\n");
    }
}
