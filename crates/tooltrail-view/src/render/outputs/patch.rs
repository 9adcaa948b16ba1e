//! `patch`: the changes of a session as a unified diff. Nothing is written where no file changed.

use super::{Output, OutputSource, TerminalRule};
use tooltrail_model::changes::{PathStyle, unified};

pub(super) const OUTPUT: Output = Output {
    name: "patch",
    endings: &["patch", "diff"],
    media_type: "text/x-diff; charset=utf-8",
    label: "Patch of the changes",
    description: "The changes to files, for `git apply` or `patch -p1`",
    source: OutputSource::Changes,
    terminal: TerminalRule::Neutralise,
    write: |export, out| {
        export.changes.read(PathStyle::Patch, &mut |groups, names| {
            for group in groups {
                out.write_all(unified::patch(&group, names).as_bytes())?;
            }
            Ok(())
        })
    },
};
