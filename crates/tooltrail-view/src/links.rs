//! Web addresses in logs: which may be offered as links, and what is shown of them.
//!
//! Nothing is fetched. Anything but a plain address of a page or a mailbox stays text: schemes that run something, a name
//! before `@` that poses as the host, invisible characters.

use crate::block::PageLink;
use crate::line::neutral;
use crate::{Class, Line};

/// The address, if it is safe to offer as a link: `http`, `https` or `mailto`, and nothing in it that hides its target.
pub fn safe(url: &str) -> Option<String> {
    let url = url.trim();
    // Browsers treat a backslash like a slash, which can hide the real host.
    let hidden = |letter: char| letter.is_whitespace() || letter == '\\' || is_invisible(letter);
    if url.contains(hidden) || neutral(url) != url {
        return None;
    }
    if let Some(mailbox) = strip_scheme(url, "mailto:") {
        let (name, host) = mailbox.split_once('@')?;
        // Parameters could prefill a message or add recipients.
        return (!name.is_empty() && is_host(host) && !mailbox.contains(['?', '%', ','])).then(|| url.to_owned());
    }
    let (host, port) = split_port(authority(url)?);
    (is_host(host) && port.bytes().all(|byte| byte.is_ascii_digit())).then(|| url.to_owned())
}

/// The host of an address that is safe to offer, with its port.
pub fn host(url: &str) -> Option<&str> {
    safe(url)?;
    match strip_scheme(url.trim(), "mailto:") {
        Some(mailbox) => mailbox.split_once('@').map(|(_, host)| host),
        None => authority(url.trim()),
    }
}

/// A page as an entry of a list. An unsafe address is shown in full and not linked.
pub(crate) fn link(title: &str, url: &str, snippet: Option<&str>) -> PageLink {
    let title = if title.trim().is_empty() { url } else { title };
    // An address that is shown in full already contains its host.
    let place =
        host(url).map_or_else(|| Line::of(Class::Dim, url), |host| if title == url { Line::default() } else { Line::of(Class::Dim, host) });
    PageLink { title: title.trim().into(), url: safe(url), place, snippet: snippet.map(|text| crate::texts::gist(text).into()) }
}

/// The part after a scheme, ignoring case.
fn strip_scheme<'u>(url: &'u str, scheme: &str) -> Option<&'u str> {
    let (start, rest) = url.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// The part between `//` and the path. A user name before the host is part of it, and makes it invalid as a host.
fn authority(url: &str) -> Option<&str> {
    let rest = strip_scheme(url, "https://").or_else(|| strip_scheme(url, "http://"))?;
    rest.split(['/', '?', '#']).next()
}

fn split_port(authority: &str) -> (&str, &str) {
    match authority.rsplit_once(':') {
        // A colon within `[…]` belongs to an IPv6 address.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    }
}

/// Whether this can be a host name or address. Letters of all languages are allowed, lookalikes of slashes and dots are
/// not.
fn is_host(host: &str) -> bool {
    if let Some(number) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
    }
    !host.is_empty() && host.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_'))
}

/// Zero-width characters and tags, which can hide in an address.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_mailboxes_are_offered() {
        for url in [
            "https://example.org/a?b=c#d",
            "HTTP://example.org",
            "http://[::1]:80/x",
            "https://bücher.example:8080/",
            "mailto:a@example.org",
        ] {
            assert_eq!(safe(url).as_deref(), Some(url), "{url}");
        }
        assert_eq!(safe(" https://example.org ").as_deref(), Some("https://example.org"));
        assert_eq!(host("https://example.org:8080/a"), Some("example.org:8080"));
        assert_eq!(host("mailto:a@example.org"), Some("example.org"));
    }

    #[test]
    fn anything_else_stays_text() {
        let bad = [
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//example.org",
            "https://",
            "https:///x",
            "https://example.org@evil.example/",
            "https://good.example\\@evil.example/",
            "https://exa mple.org",
            "https://example.org/\u{202e}gpj",
            "https://example.org/\u{200b}",
            "https://example.org\u{2044}x.evil.example",
            "https://example.org:80a/",
            "java\nscript:x",
            "https://a\u{1b}]8;;x",
            "mailto:a@b?body=x",
            "mailto:@b",
            "é",
        ];
        for url in bad {
            assert_eq!(safe(url), None, "{url:?}");
            assert_eq!(host(url), None, "{url:?}");
        }
        assert_eq!(link("", "javascript:x", None).place.text(), "javascript:x");
    }
}
