//! A picture that is looked at or made.
//!
//! ```text
//! ▣ view_image   shots/login.png             640×480 · 12 kB   3 ms ✓
//!   [the picture]
//! ```

use super::{ToolView, other, title};
use crate::pieces::{image, picture_facts, plain, section};
use crate::{Block, Head, Limits, outcome, place};
use tooltrail_model::content::words;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of pictures that are viewed or generated.
pub(super) struct PictureView;

impl ToolView for PictureView {
    fn name(&self) -> &'static str {
        "picture"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Picture(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Picture(picture) = &call.told.detail else { return Head::default() };
        let facts = picture.image.as_ref().map(picture_facts).unwrap_or_default();
        Head { icon: "▣", name: call.row.tool.into(), title: title(call), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Picture(picture) = &call.told.detail else { return Vec::new() };
        let prompt = picture.prompt.as_deref().map(|text| section("prompt", true, vec![Block::Code(plain(None, text, limits))]));
        let alt = picture.path.as_deref().map(|path| place::relative(call, path)).or(picture.prompt.as_deref());
        let shown = picture.image.as_ref().map(|shown| image(shown, alt.unwrap_or("image")));
        // Without a picture the text of the result says why. If there is none either, the frame shows the failure, and its fields.
        let is_told = outcome::went_wrong(call) && call.answer.as_ref().is_some_and(|answer| words(&answer.seen).trim().is_empty());
        let said = if picture.image.is_none() && !is_told { other::output(call, limits) } else { Vec::new() };
        prompt.into_iter().chain(shown).chain(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::sample_files::{body, head, story};
    use tooltrail_model::content::Image;
    use tooltrail_model::detail::{Detail, Picture};
    use tooltrail_model::{Kind, Status};

    #[test]
    fn looked_at_and_made() {
        let image = Image { size: Some((640, 480)), bytes: Some(12_000), ..Image::default() };
        let looked = Picture { path: Some("/srv/app/a.png".into()), prompt: None, image: Some(image.clone()) };
        let call = story("view_image", Kind::Image, Status::Answered, Detail::Picture(looked));
        assert_eq!(head(&call), "▣ | view_image | a.png | 640×480, 12 kB");
        assert_eq!(body(&call), "image a.png, 640×480, 12 kB\n");
        let made = Picture { path: None, prompt: Some("A cat".into()), image: Some(image) };
        let call = story("image_gen", Kind::Image, Status::Succeeded, Detail::Picture(made));
        assert_eq!(head(&call), "▣ | image_gen | A cat | 640×480, 12 kB");
        assert_eq!(body(&call), "section prompt\n  code - -\n  | A cat\nimage A cat, 640×480, 12 kB\n");
    }
}
