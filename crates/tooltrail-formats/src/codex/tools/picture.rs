//! Pictures: looked at (`view_image`) or made (`image_generation`, `image_gen__imagegen`).

use super::CodexCall;
use tooltrail_model::content::Content;
use tooltrail_model::detail::{Detail, Picture};

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let path = call.input.text(&["path"]).or_else(|| call.produced.text(&["path", "saved_path", "savedPath"]));
    let prompt = call.input.text(&["revised_prompt", "prompt"]).or_else(|| call.produced.text(&["revised_prompt", "revisedPrompt"]));
    let prompt = prompt.or_else(|| call.script.take().map(str::to_owned));
    let image = call.ask.seen.iter().find_map(|one| if let Content::Image(image) = one { Some(image.clone()) } else { None });
    // An end names the file again, and holds the same picture.
    call.produced.drop(&["path", "result", "revised_prompt", "revisedPrompt"]);
    Detail::Picture(Picture { path, prompt, image })
}
