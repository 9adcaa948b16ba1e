//! E-mail addresses. Those of machines and those made for examples stay.

use crate::spot::is_url;
use crate::spot::{Take, TriggerSpot, ends_folded};

/// Endings that look like those of a host, but belong to files or to units of systemd.
const NO_HOSTS: &str = "png jpg jpeg gif svg webp avif ico pdf js mjs cjs ts tsx jsx vue css scss html json yml yaml toml xml txt log lock csv \
    tgz gz zip tar xz service socket timer target mount slice scope path device patch diff whl jar java kt go rb php exe dll \
    dev0 map";

/// Local parts that belong to no person.
const MACHINES: &str = "noreply no-reply no_reply donotreply do-not-reply git mailer-daemon";

/// Hosts without people: those reserved for examples, and those in names of SSH ciphers.
const NOBODYS: &str = "example.com example.org example.net example test invalid localhost openssh.com libssh.org";

/// The address around an `@`, or around the `%40` that stands for it in URLs.
pub(crate) fn email(spot: TriggerSpot<'_>) -> Option<Take> {
    let name = name(spot)?;
    let host = host(spot)?;
    let from = spot.at - name.len();
    let person = !MACHINES.split(' ').any(|machine| is_machine(name, machine.as_bytes()));
    // In a URL the part before `@` is a user, which `url.rs` handles: an address of a person does not stand there.
    (person && is_host(host) && !in_url(spot.before(from, 64))).then(|| Take::mark(from, spot.end + host.len()))
}

/// Whether a local part is that of a machine, or ends with it: `releases-no-reply`.
fn is_machine(name: &[u8], machine: &[u8]) -> bool {
    let above = name.len().checked_sub(machine.len() + 1);
    name.eq_ignore_ascii_case(machine)
        || machine.len() > "git".len()
            && ends_folded(name, machine)
            && above.and_then(|at| name.get(at)).is_some_and(|byte| matches!(byte, b'-' | b'_' | b'.' | b'+'))
}

/// Whether the `@` separates the user or password of a URL: `https://anna@host`, `https://anna:word@host`.
fn in_url(before: &[u8]) -> bool {
    let stop = |byte: &u8| *byte <= b' ' || matches!(byte, b'/' | b'?' | b'=' | b'&' | b'#' | b'"' | b'\'' | b'<' | b'>' | b',');
    let end = before.iter().rposition(stop).map_or(0, |at| at + 1);
    before[..end].ends_with(b"://")
}

/// Local part: the name before the `@`.
fn name<'t>(spot: TriggerSpot<'t>) -> Option<&'t [u8]> {
    const MOST: usize = 64;
    let before = spot.before(spot.at, MOST + 1);
    let len = before.iter().rev().take_while(|byte| is_url(**byte) || matches!(byte, b'.' | b'+')).count();
    let (head, mut name) = before.split_at(before.len() - len);
    // The letter of an escape such as `\n` is not part of the name, nor are the digits of `%20`.
    match (head.last(), name) {
        (Some(b'\\'), [b'n' | b't' | b'r', rest @ ..]) => name = rest,
        (Some(b'%'), [a, b, rest @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => name = rest,
        _ => {}
    }
    while let [b'.' | b'-' | b'+' | b'_', rest @ ..] = name {
        name = rest;
    }
    // One byte more than allowed was read: a longer run is no address but data.
    (len <= MOST && !name.is_empty() && !name.ends_with(b".")).then_some(name)
}

/// Host behind the `@`, without a full stop that ends the sentence.
fn host<'t>(spot: TriggerSpot<'t>) -> Option<&'t [u8]> {
    const MOST: usize = 253;
    let end = spot.run(spot.end, MOST, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    let mut host = spot.bytes(spot.end, end);
    while let [rest @ .., b'.' | b'-'] = host {
        host = rest;
    }
    // `a@b.c(` is code.
    (spot.byte(end) != Some(b'(') && !host.is_empty()).then_some(host)
}

/// Whether mail to this host reaches a person.
fn is_host(host: &[u8]) -> bool {
    let labels: Vec<&[u8]> = host.split(|byte| *byte == b'.').collect();
    let [first, .., last] = labels.as_slice() else { return false };
    let whole = labels.iter().all(|label| !label.is_empty() && label.len() <= 63);
    let top = last.len() >= 2 && last.len() <= 24 && last.iter().all(u8::is_ascii_alphabetic);
    // `pkg@1.2.3-rc.next` and `action@v1.x` are versions; `163.com` is a host.
    let number = first.strip_prefix(b"v").unwrap_or(first).first().is_some_and(u8::is_ascii_digit);
    let version = number && !(labels.len() == 2 && last.len() == 3 && first.len() >= 3);
    let file = NO_HOSTS.split(' ').any(|end| last.eq_ignore_ascii_case(end.as_bytes()));
    let nobodys = NOBODYS.split(' ').any(|nobodys| {
        let above = host.len().checked_sub(nobodys.len() + 1);
        // Subdomains of such a host count too, but `notexample.com` does not.
        ends_folded(host, nobodys.as_bytes()) && above.is_none_or(|at| host[at] == b'.')
    });
    whole && top && !version && !file && !nobodys
}
