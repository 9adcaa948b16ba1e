//! Names of people in paths: home directories, and the name of the user within paths, prompts and listings.

use std::borrow::Cow;

use crate::spot::{Take, TriggerSpot, after_escape, ends_folded, is_word, starts_folded};

/// Accounts and directories that exist on many machines and identify no person.
const NOBODY: &str = "user users username user_name name your-username yourname you me root admin runner ubuntu debian node vscode ec2-user \
    opc app appuser dev docker coder gitpod codespace sandbox agent builder vagrant git jovyan circleci travis jenkins \
    linuxbrew www web shared public default guest test tester src bin lib etc tmp var usr opt srv home data build work code \
    projects local claude codex runneradmin administrator containeradministrator example xxx foo bar someone";

/// Endings of files: `/home/index.html` is a page, not a person's directory.
const PAGES: &str = ".html .htm .tsx .ts .jsx .js .vue .css .php .json .md .py .svg .png";

/// The owner of this machine: the home directory in all the forms it is written in, and the user's name.
#[derive(Debug, Default)]
pub(crate) struct MachineOwner {
    homes: Vec<(String, Cow<'static, str>)>,
    user: Option<String>,
}

impl MachineOwner {
    pub(crate) fn new(home: Option<&str>, user: Option<&str>) -> MachineOwner {
        let mut owner = MachineOwner::default();
        // `/` as a home would replace every path.
        if let Some(home) = home.map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| home.len() > 1) {
            owner.add_home(home);
        }
        // A short or common name would match ordinary words.
        let named = |user: &&str| user.len() >= 2 && !user.contains(['/', '\\']) && !is_nobody(user.as_bytes());
        owner.user = user.map(str::trim).filter(named).map(str::to_owned);
        owner
    }

    /// Adds the home directory with its slashes doubled, escaped or reversed, and as the name of a project's folder.
    fn add_home(&mut self, home: &str) {
        let forms =
            [home.to_owned(), home.replace('\\', "\\\\"), home.replace('\\', "/"), home.replace('/', "\\/"), home.replace('/', "%2F")];
        for form in forms {
            if !self.homes.iter().any(|(known, _)| *known == form) {
                self.homes.push((form, Cow::Borrowed("~")));
            }
        }
        // Agents name a project's folder after its path, with dashes for everything else.
        let slug = |path: &str| path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>();
        if let Some((above, _)) = home.rsplit_once(['/', '\\']).filter(|(_, name)| !is_nobody(name.as_bytes())) {
            self.homes.push((slug(home), Cow::Owned(slug(above) + "-user")));
        }
    }

    /// Forms of the home directory.
    pub(crate) fn homes(&self) -> impl Iterator<Item = &str> {
        self.homes.iter().map(|(form, _)| form.as_str())
    }

    /// Name of the user, unless it identifies no person.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Replaces the home directory at the beginning of a path.
    pub(crate) fn take_home(&self, spot: TriggerSpot<'_>) -> Option<Take> {
        let (form, by) = self.homes.iter().find(|(form, _)| form.as_bytes() == spot.bytes(spot.at, spot.end))?;
        let whole = if form.starts_with('-') {
            // In a slug a dash before it means that the match began within a longer name.
            spot.begins(spot.at) && spot.before(spot.at, 1) != b"-"
        } else {
            is_root(spot) && spot.byte(spot.end) != Some(b'-')
        };
        (whole && name_ends(spot, spot.end)).then(|| Take::by(spot.at, spot.end, by.clone()))
    }

    /// Replaces the user's name as part of a path, before `@` in a prompt, or as owner in a listing.
    pub(crate) fn take_user(&self, spot: TriggerSpot<'_>) -> Option<Take> {
        let before = spot.before(spot.at, 3);
        let separated =
            matches!(before.last(), Some(b'/' | b'\\')) && !breaks_line(spot) || ends_folded(before, b"%2F") || ends_folded(before, b"%5C");
        let prompt = || spot.byte(spot.end) == Some(b'@') && spot.begins(spot.at) && spot.byte(spot.end + 1).is_some_and(is_word);
        let found = name_ends(spot, spot.end) && (separated || prompt() || in_listing(spot) || in_slug(spot));
        found.then(|| Take::by(spot.at, spot.end, "user"))
    }
}

/// A `\` before a name is a separator; but the user `nina` is not in `\nina`, where the text breaks a line.
fn breaks_line(spot: TriggerSpot<'_>) -> bool {
    let before = spot.before(spot.at, 2);
    before.last() == Some(&b'\\') && before != b"\\\\" && matches!(spot.byte(spot.at), Some(b'n' | b't' | b'r'))
}

/// `-home-NAME-…`, as a project's folder is called.
fn in_slug(spot: TriggerSpot<'_>) -> bool {
    let before = spot.before(spot.at, 8);
    before.ends_with(b"-home-") || before.ends_with(b"-Users-")
}

/// Whether the name is the owner or the group in a line of `ls -l`.
fn in_listing(spot: TriggerSpot<'_>) -> bool {
    let before = spot.before(spot.at, 80);
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.trim_ascii_start();
    let mode =
        line.get(..10).is_some_and(|mode| matches!(mode[0], b'-' | b'd' | b'l') && mode[1..].iter().all(|b| b"rwxsStT-".contains(b)));
    // Owner and group are the third and fourth words; a later word is the file's own name.
    mode && before.last() == Some(&b' ') && line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count() <= 3
}

/// The name in `/home/NAME`, `/Users/NAME`, `C:\Users\NAME`, whoever it is.
pub(crate) fn in_home(spot: TriggerSpot<'_>) -> Option<Take> {
    let windows = spot.byte(spot.at) == Some(b'\\');
    let from = if windows { spot.run(spot.end, 3, |byte| byte == b'\\') } else { spot.end };
    let mut to = spot.run(from, 64, is_name);
    if windows {
        // `Anna Smith` is one name where a separator follows.
        let wide = spot.run(from, 40, |byte| is_name(byte) || byte == b' ');
        to = if spot.byte(wide) == Some(b'\\') { wide } else { to };
    }
    // A full stop at the end belongs to the sentence.
    while to > from && spot.byte(to - 1) == Some(b'.') {
        to -= 1;
    }
    let name = spot.bytes(from, to);
    // A run of the full length is not a name but data.
    let somebody = to > from && to - from < 64 && !is_nobody(name) && !PAGES.split(' ').any(|end| ends_folded(name, end.as_bytes()));
    (somebody && (windows || is_root(spot))).then(|| Take::by(from, to, "user"))
}

/// The name in a project's folder: `-home-NAME-project`, `C--Users-NAME-project`. The word `-home-` also occurs in options
/// and CSS classes, so a slash has to stand before it.
pub(crate) fn in_folder(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = spot.run(spot.end, 40, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let users = spot.bytes(spot.at, spot.end) == b"-Users-";
    let folder = match spot.before(spot.at, 3) {
        [.., b'/' | b'\\'] => true,
        // `C:\Users` becomes `C--Users`.
        [.., drive, b'-'] => users && drive.is_ascii_uppercase(),
        [.., last] => users && !is_word(*last) && *last != b'-',
        [] => true,
    };
    (folder && to > spot.end && !is_nobody(spot.bytes(spot.end, to))).then(|| Take::by(spot.end, to, "user"))
}

/// Whether a path that begins here is absolute, and not below another directory as in `src/home/…`.
fn is_root(spot: TriggerSpot<'_>) -> bool {
    const ABOVE: [&[u8]; 4] = [b"file://", b"/var", b"/export", b"/System/Volumes/Data"];
    let before = spot.before(spot.at, 24);
    let drive = || matches!(before, [.., b'/', drive] if drive.is_ascii_alphabetic()) && spot.byte(spot.at + 1) == Some(b'U');
    // `a` and `b` are the two sides of a diff.
    let diff = || matches!(before, [b'a' | b'b'] | [.., b' ', b'a' | b'b']);
    // A flag joined with its path, as in `-I/home/…`.
    let flag = || matches!(before, [.., b' ', b'-', letter] if letter.is_ascii_alphabetic());
    match before.last() {
        None => true,
        Some(last) if is_word(*last) => {
            after_escape(before) || drive() || diff() || flag() || ABOVE.iter().any(|above| before.ends_with(above))
        }
        Some(b'/') => ABOVE.iter().any(|above| before.ends_with(above)),
        Some(last) => !matches!(last, b'.' | b'~' | b'}' | b')' | b'$' | b'*' | b'\\'),
    }
}

/// Whether a name ends here, and does not continue as in `anna.bak`. In folder names a dash ends it.
fn name_ends(spot: TriggerSpot<'_>, at: usize) -> bool {
    match spot.byte(at) {
        Some(b'.') => spot.byte(at + 1).is_none_or(|next| !is_word(next)),
        Some(byte) => !is_word(byte) && byte.is_ascii(),
        None => true,
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'-') || !byte.is_ascii()
}

fn is_nobody(name: &[u8]) -> bool {
    NOBODY.split(' ').any(|nobody| nobody.len() == name.len() && starts_folded(name, nobody.as_bytes()))
}
