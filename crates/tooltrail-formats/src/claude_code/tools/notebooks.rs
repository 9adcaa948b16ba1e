//! Notebooks: cells that are read, and a cell that is edited.

use super::super::content::text;
use super::ToolCall;
use super::fields::name;
use serde_json::Value;
use tooltrail_model::content::Image;
use tooltrail_model::detail::{Detail, Notebook, NotebookCell};

/// `NotebookEdit`: a cell is replaced, inserted or deleted.
pub(super) fn edit(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let path = input.string("notebook_path").or_else(|| produced.string("notebook_path")).unwrap_or_default();
    let cell = input.name("cell_id").or_else(|| input.name("cell_number"));
    // An inserted cell gets its id from the tool.
    let made = produced.name("cell_id").or_else(|| produced.name("cell_number"));
    let mode = input.string("edit_mode").or_else(|| produced.string("edit_mode"));
    let sort = input.string("cell_type").or_else(|| produced.string("cell_type"));
    let source = input.string("new_source").or_else(|| produced.string("new_source")).unwrap_or_default();
    // The tool reports some failures in a field of a successful result.
    let failure = produced.string("error").filter(|error| !error.is_empty());
    // Whole files, or repetitions of the input.
    produced.drop(&["notebook_path", "edit_mode", "cell_type", "new_source", "error", "original_file", "updated_file"]);
    let notebook = Notebook {
        path,
        cell: cell.or(made),
        mode,
        sort,
        language: produced.string("language"),
        source,
        old: produced.string("old_source"),
    };
    call.error = call.error.take().or(failure);
    Detail::Notebook(notebook)
}

/// The cells of a notebook in `toolUseResult`.
pub(super) fn cells(value: &Value) -> Option<Vec<NotebookCell>> {
    Some(value.as_array()?.iter().map(cell).collect())
}

/// One cell, whichever way its fields are spelled.
fn cell(value: &Value) -> NotebookCell {
    let outputs = value.get("outputs").and_then(Value::as_array).into_iter().flatten();
    let mut cell = NotebookCell {
        id: ["cell_id", "id", "cell"].iter().find_map(|key| value.get(key)).and_then(name),
        sort: text(value, "cellType").or(text(value, "cell_type")).unwrap_or("code").to_owned(),
        language: text(value, "language").map(str::to_owned),
        source: value.get("source").and_then(lines).unwrap_or_default(),
        count: value.get("execution_count").and_then(Value::as_u64),
        ..NotebookCell::default()
    };
    for output in outputs {
        cell.outputs.extend(output.get("text").and_then(lines).filter(|text| !text.is_empty()));
        let image = output.get("image").and_then(|image| {
            let data = text(image, "image_data").or(text(image, "data"))?.to_owned();
            Some(Image { media: text(image, "media_type").unwrap_or_default().to_owned(), data: Some(data), ..Image::default() })
        });
        cell.images.extend(image);
    }
    cell
}

/// A text, or the list of lines that notebooks keep instead.
fn lines(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// Cells as the model sees them: `<cell id="a"><cell_type>markdown</cell_type># Head</cell id="a">`, then what the cell printed.
pub(super) fn spoken(text: &str) -> Option<Vec<NotebookCell>> {
    let mut rest = text.trim_start();
    let mut cells = Vec::new();
    while let Some(open) = rest.strip_prefix("<cell id=\"") {
        // A tag that never closes makes the text something else, which is shown as it is.
        let (id, body) = open.split_once("\">")?;
        let (source, after) = body.split_once(&format!("</cell id=\"{id}\">"))?;
        let (sort, source) = prefixed(source, "cell_type");
        let (language, source) = prefixed(source, "language");
        // The output of a cell goes up to the next cell.
        let end = after.find("\n<cell id=\"").or_else(|| after.starts_with("<cell id=\"").then_some(0)).unwrap_or(after.len());
        let (printed, next) = after.split_at(end);
        cells.push(NotebookCell {
            id: Some(id.to_owned()),
            sort: sort.unwrap_or("code").to_owned(),
            language: language.map(str::to_owned),
            source: source.to_owned(),
            outputs: Some(printed.trim_matches('\n')).filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect(),
            ..NotebookCell::default()
        });
        rest = next.trim_start();
    }
    (!cells.is_empty()).then_some(cells)
}

/// The text of a tag at the start, and what follows it.
fn prefixed<'t>(text: &'t str, tag: &str) -> (Option<&'t str>, &'t str) {
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag)).and_then(|rest| rest.strip_prefix('>'));
    match inner.and_then(|inner| inner.split_once(&format!("</{tag}>"))) {
        Some((value, rest)) => (Some(value), rest),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_from_what_the_model_saw() {
        let text = "<cell id=\"c0\"><cell_type>markdown</cell_type># Head</cell id=\"c0\">\n<cell id=\"c1\">print(1)</cell id=\"c1\">\n1\n";
        let cells = spoken(text).unwrap_or_default();
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].sort.as_str(), cells[0].source.as_str()), ("markdown", "# Head"));
        assert_eq!((cells[1].sort.as_str(), cells[1].outputs.as_slice()), ("code", ["1".to_owned()].as_slice()));
        assert!(spoken("     1→x").is_none());
    }
}
