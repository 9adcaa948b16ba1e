//! Values recognised by their names: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `set("password", "…")`.
//!
//! The trigger is a word within the name. What stands around the name says how its value is written and how much the value has to look
//! like a secret: in data any literal counts, in code only a string, in prose only what no word looks like.

use crate::judge::Judge;
use crate::name::Name;
use crate::names;
use crate::rules;
use crate::site::{Sign, Site};
use crate::spot::{Take, TriggerSpot, is_blank, is_word};
use crate::value::Value;

/// Redacts the value of the name that contains the trigger.
pub(crate) fn take(spot: TriggerSpot<'_>) -> Option<Take> {
    let name = Name::around(spot)?;
    let secret = names::classify(name.bytes(spot))?;
    let site = Site::pair(spot, &name).or_else(|| Site::after(spot, &name))?;
    let whole = name.anchored && name.quote.is_none() && matches!(site.sign, Sign::Equals | Sign::Colon);
    let first = behind_scheme(spot, Value::read(spot, site.from, whole)?);
    let judge = Judge { spot, name: &name, secret, site: &site };
    // `token: &str = "…"` and `env("TOKEN") || "…"`: where the first candidate is a type or a lookup, the value comes after it.
    let candidates = [Some(first), typed(spot, first), fallback(spot, first)];
    let value = candidates.into_iter().flatten().find(|value| judge.is_secret(value))?.complete(spot);
    let (kind, value) = scheme(spot, value);
    Some(mark(spot, kind.unwrap_or(secret.kind), value))
}

/// The label for a value. One with a shape of its own is called by that.
pub(crate) fn mark(spot: TriggerSpot<'_>, kind: &'static str, value: Value) -> Take {
    match rules::shape_at(spot, value.from) {
        Some((kind, from, to)) => Take::named(kind, from.min(value.from), to.max(value.to)),
        None => Take::named(kind, value.from, value.to),
    }
}

/// Schemes of the header `Authorization`, and what to call their credentials.
const SCHEMES: [(&[u8], Option<&str>); 12] = [
    (b"bearer", Some("bearer token")),
    (b"basic", Some("basic credentials")),
    (b"token", Some("token")),
    (b"apikey", Some("api key")),
    (b"api-key", Some("api key")),
    (b"bot", None),
    (b"key", None),
    (b"negotiate", None),
    (b"ntlm", None),
    (b"splunk", None),
    (b"sso-key", None),
    (b"github-bearer", None),
];

/// The value without the scheme in front of it, as in `Bearer …`, and what the scheme calls it.
pub(crate) fn scheme(spot: TriggerSpot<'_>, value: Value) -> (Option<&'static str>, Value) {
    let bytes = value.bytes(spot);
    let head = bytes.iter().position(|byte| *byte == b' ').unwrap_or(bytes.len());
    let known = SCHEMES.iter().find(|(scheme, _)| bytes[..head].eq_ignore_ascii_case(scheme));
    let from = spot.run(value.from + head, 4, |byte| byte == b' ');
    match known {
        Some((_, kind)) if from > value.from + head && from < value.to => (*kind, Value { from, ..value }),
        _ => (None, value),
    }
}

/// An unquoted value with the scheme in front of it taken in, which ends at the blank otherwise.
fn behind_scheme(spot: TriggerSpot<'_>, value: Value) -> Value {
    let known = value.quote.is_none() && SCHEMES.iter().any(|(scheme, _)| value.bytes(spot).eq_ignore_ascii_case(scheme));
    let next = spot.run(value.to, 4, |byte| byte == b' ');
    if !known || next == value.to {
        return value;
    }
    Value::read(spot, next, false).filter(|next| next.quote.is_none()).map_or(value, |next| Value { from: value.from, ..next })
}

/// The value behind a type annotation: `token: &str = "…"`.
fn typed(spot: TriggerSpot<'_>, value: Value) -> Option<Value> {
    let sign = spot.run(value.to, 24, |byte| is_word(byte) || b" <>[]&|'.?".contains(&byte));
    let open = matches!(spot.byte(value.from), Some(b'{' | b'[' | b'('));
    let typed =
        value.quote.is_none() && (value.to > value.from || spot.byte(value.from) == Some(b'&')) && !open && spot.byte(sign) == Some(b'=');
    let value = typed.then(|| Value::read(spot, spot.run(sign + 1, 4, is_blank), false))??;
    value.quote.is_some().then_some(value)
}

/// The literal that is taken where a lookup finds nothing: `getenv("TOKEN") or "…"`.
fn fallback(spot: TriggerSpot<'_>, value: Value) -> Option<Value> {
    const SIGNS: [&[u8]; 4] = [b"|| ", b"?? ", b" or ", b", "];
    let line = spot.bytes(value.from, spot.run(value.from, 120, |byte| byte != b'\n'));
    let looks_up = line.windows(3).any(|three| three.eq_ignore_ascii_case(b"env"));
    if !looks_up || value.quote.is_some() {
        return None;
    }
    let at = SIGNS.iter().find_map(|sign| line.windows(sign.len()).position(|window| window == *sign).map(|at| at + sign.len()))?;
    Value::read(spot, value.from + at, false).filter(|value| value.quote.is_some())
}
