//! What a value looks like: drawn by chance, a word, a placeholder, a reference in code.
//!
//! The functions are cheap and look at the bytes alone. Which of them decide depends on where the value stands (`assign.rs`).

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::spot::{holds_folded, is_word, starts_folded};

/// Beginnings of placeholders.
const PLACEHOLDERS: &str = "your changeme change-me change_me replace insert-your insert_your example dummy placeholder fake- fake_ mock- mock_ \
    sample- sample_ redacted *** ... xxx abc123 sk-xxx arn: 0x0000 todo- todo_ hidden- masked none- some- some_ process.env os.environ os.getenv \
    env. env( env[ env: getenv( secrets. vars. var. local. data. config. settings. vault: vault( op:// ref+ !ref !sub !vault file( \
    input( prompt( getpass readline( import.meta";

/// Words that stand where a secret could stand, and are none: types, states, roles, environments.
const COMMON: &str = "required optional string str text varchar char bool boolean int integer number float object array list map dict any void never \
    unknown null none nil undefined true false yes no on off enabled disabled enable disable default auto automatic manual empty blank missing \
    invalid incorrect wrong failed failure success successful ok okay error expired valid set unset present absent changed unchanged saved loaded \
    masked hidden redacted removed omitted sensitive confidential secret secrets private public protected internal external password passwd pass pwd \
    passphrase token tokens key keys auth authorization authentication oauth oauth2 bearer basic digest jwt apikey api credential credentials creds cookie \
    cookies session login logout signin signup register username user users admin administrator root guest owner member role email mail name id uuid \
    value values field fields param params parameter parameters header headers query body form input output type types kind format schema model \
    test tests testing demo example sample dummy mock fake foo bar baz qux foobar placeholder changeme change-me todo tbd na n/a xxx local localhost \
    development production staging dev prod stage preview release debug info warn warning trace postgres postgresql mysql mariadb redis mongo mongodb \
    sqlite database db server client service app application host port url uri path file files directory folder self this super other new old current \
    next previous first last all some data config configuration settings options env environment variable variables constant const let var function \
    identifier keyword operator punctuation comment literal expression statement plain plaintext encrypted hashed hash sha1 sha256 sha512 md5 bcrypt \
    argon2 argon2id scrypt pbkdf2 base64 hex utf8 utf-8 ascii json yaml toml xml html css markdown sensitive generated random github gitlab google \
    aws azure anthropic openai deny allow denied allowed granted rejected accepted pending active inactive read write create update delete \
    get post put patch and or not if else for while with without from to in of the a an is are was were be been your my our their its it \
    prompt ask always once later now here there see below above same different system assistant tool tools mnemonic phrase seed \
    latest nullable confirmed sometimes filled include same-origin same-site omit lax strict interactive scram-sha-256 trust ident peer md4 inherit implicit explicit passthrough";

/// Words of sentences. Two of them, and a text is no password.
const OF_SENTENCES: &str = "the a an is are was were be been must should may can could would will shall your you my our we please enter not no and or of to for \
    with from at least this that it in on if when where which has have invalid incorrect wrong required missing field value characters password \
    passwords token tokens secret key login account user reset forgot confirm type choose new current use using does do don't doesn't";

static COMMON_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| COMMON.split_ascii_whitespace().collect());
static SENTENCE_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| OF_SENTENCES.split_ascii_whitespace().collect());

/// Whether this is a placeholder for a value, or a reference to where the value is kept.
pub(crate) fn placeholder(value: &[u8], quoted: bool) -> bool {
    let opens = match value {
        [b'<', .., b'>'] | [b'{', .., b'}'] | [b'[', .., b']'] | [b'(', .., b')'] => true,
        // A salt may begin and end with the same sign by chance.
        [b'%', name @ .., b'%'] | [b'@', name @ .., b'@'] if name.iter().all(|byte| is_word(*byte) || matches!(byte, b'.' | b'-')) => true,
        [b'<' | b'{' | b'[' | b'(' | b'#' | b'&' | b'%' | b'`' | b'!', rest @ ..] => !quoted || rest.len() < 2,
        [b'*', ..] => value.iter().all(|byte| *byte == b'*') || !quoted,
        // `$2b$…` and `$argon2…` are password hashes; any other `$` begins a variable.
        [b'$', rest @ ..] => variable(rest, quoted),
        // An option. A key in base64 for addresses may begin so by chance.
        [b'-', b'-', rest @ ..] => rest.len() < 24 || !random(rest),
        // A bullet or an ellipsis, as fields that hide what is typed show it.
        [0xe2, 0x80, 0xa2 | 0xa6, ..] | [0xe2, 0x97, 0x8f, ..] => true,
        _ => false,
    };
    opens
        || PLACEHOLDERS.split_ascii_whitespace().any(|word| starts_folded(value, word.as_bytes()))
        || holds_folded(value, b"${")
        || holds_folded(value, b"{{")
        || holds_folded(value, b"$(")
        || holds_folded(value, b"...")
        || [&b"%s"[..], b"%d", b"%v", b"redacted"].iter().any(|part| holds_folded(value, part))
        || filler(value)
}

/// Whether a `$` followed by this is a variable.
fn variable(rest: &[u8], quoted: bool) -> bool {
    match rest {
        [b'{' | b'(', ..] => true,
        [digit, ..] if digit.is_ascii_digit() => !(rest.len() > 12 && rest.contains(&b'$')),
        _ if rest.starts_with(b"argon2") || rest.starts_with(b"apr1$") || rest.starts_with(b"y$") || rest.starts_with(b"scrypt$") => false,
        [..] => !quoted || rest.iter().all(|byte| is_word(*byte) || matches!(byte, b':' | b'.' | b'-' | b'>' | b'{' | b'}' | b'[' | b']')),
    }
}

/// Whether the characters are made up: few different ones, one repeated many times, or a word that says so.
pub(crate) fn filler(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let kinds = seen.iter().filter(|seen| **seen).count();
    let head = value.get(..256).unwrap_or(value);
    // Padding of base64 repeats `=`, and tokens of some services hold a row of `A`.
    let repeats = head.chunk_by(|a, b| a == b).any(|same| same.len() >= 6 && !matches!(same.first(), Some(b'=' | b'A')));
    let says =
        [&b"example"[..], b"your_", b"your-", b"xxxx", b"placeholder", b"redacted", b"1234567890", b"abcdefghij", b"foobar", b"dummy"];
    // The longer a value, the more kinds a random one has; six are enough for any length.
    value.len() >= 6 && kinds < (value.len() / 3).clamp(2, 6) || repeats || says.iter().any(|word| holds_folded(head, word))
}

/// Whether this is a path, an address or code rather than a value.
pub(crate) fn code(value: &[u8]) -> bool {
    let path =
        || matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..] | [_, b':', b'\\' | b'/', ..]) && !random(value) || slashed(value);
    let url = || value.windows(3).any(|window| window == b"://");
    // A secret key of AWS has forty characters, and slashes anywhere.
    url() || number(value) || dotted(value) || value.len() != 40 && path()
}

/// `0x04`: a number, too short for a key.
pub(crate) fn number(value: &[u8]) -> bool {
    matches!(value, [b'0', b'x' | b'b' | b'o', digits @ ..] if digits.len() <= 16 && digits.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'_' | b'.')))
}

/// `a.b.c`: names with full stops between.
pub(crate) fn dotted(value: &[u8]) -> bool {
    value.contains(&b'.') && value.split(|byte| *byte == b'.').all(identifier)
}

/// `a/b/c`: words with slashes between.
fn slashed(value: &[u8]) -> bool {
    let coded = value.len() >= 32 && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'='));
    let kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit].iter().filter(|kind| value.iter().any(*kind)).count();
    value.contains(&b'/') && !(coded && kinds == 3) && value.split(|byte| *byte == b'/').all(|part| !random(part) && part.len() < 30)
}

/// Whether this could be the name of a variable.
pub(crate) fn identifier(part: &[u8]) -> bool {
    part.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && part.iter().all(|byte| is_word(*byte))
        && !random(part)
}

/// Whether there are letters as well as digits.
pub(crate) fn letters_and_digits(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic) && value.iter().any(u8::is_ascii_digit)
}

/// Whether a person or a generator made it, not a writer of words: digits and letters, or signs that words lack.
pub(crate) fn mixed(value: &[u8]) -> bool {
    let odd = value.iter().any(|byte| b"!#%^&*@?$+=~;:|<>{}[]()".contains(byte));
    letters_and_digits(value) || odd && value.iter().any(u8::is_ascii_alphanumeric)
}

/// Whether this looks generated: long, and changing between lower case, upper case and digits far more often than words do.
pub(crate) fn random(value: &[u8]) -> bool {
    const LEAST: usize = 12;
    if scrambled(value) {
        return true;
    }
    let legal = value.iter().all(|byte| is_word(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b'-' | b'%' | b':'));
    let kinds = letters_and_digits(value) || value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    value.len() >= LEAST && legal && kinds && {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        // On average at most three characters per change.
        letters >= LEAST && letters * 10 <= words(value) * 30
    }
}

/// Whether letters alone look drawn by chance: as many capitals as small letters, changing often.
pub(crate) fn scrambled(value: &[u8]) -> bool {
    let capitals = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let changes = value.windows(2).filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase()).count();
    let letters = value.iter().all(u8::is_ascii_alphabetic);
    letters && value.len() >= 16 && capitals * 10 >= value.len() * 3 && capitals * 10 <= value.len() * 7 && changes * 8 >= value.len()
}

/// Number of words, numbers and capital letters that the value is made of: three for `Uint8Array`.
fn words(value: &[u8]) -> usize {
    #[derive(PartialEq)]
    enum CharKind {
        Small,
        Capital,
        Digit,
        Other,
    }
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => CharKind::Small,
        b'A'..=b'Z' => CharKind::Capital,
        b'0'..=b'9' => CharKind::Digit,
        _ => CharKind::Other,
    };
    let (mut count, mut last) = (0, CharKind::Other);
    for byte in value {
        let this = kind(*byte);
        // A capital letter and the small ones after it are one word.
        let goes_on = this == last || last == CharKind::Capital && this == CharKind::Small;
        count += usize::from(this != CharKind::Other && !goes_on);
        last = this;
    }
    count
}

/// Whether this is a word of which everyone knows that it is no secret, or several of them.
pub(crate) fn common(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let text = text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_ascii_lowercase();
    let known = |word: &str| COMMON_WORDS.contains(word);
    text.is_empty()
        || known(&text)
        || text.len() < 64 && text.split(['-', '_', '.', '|', '/', ',', ' ']).all(|part| part.is_empty() || known(part))
}

/// Whether the value is about secrets rather than a secret: `db_password`, `my-secret`, `Passwort`.
pub(crate) fn about(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] =
        [b"passw", b"pass_", b"_pass", b"passphrase", b"pwd", b"secret", b"token", b"key", b"credential", b"kennwort"];
    let plain = value
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b':' | b'[' | b']') || *byte >= 0x80);
    let numbered = value.iter().filter(|byte| byte.is_ascii_digit()).count() <= 1 && value.iter().all(|byte| is_word(*byte));
    (plain || numbered) && !random(value) && WORDS.iter().any(|word| holds_folded(value, word))
}

/// Whether a text with blanks is a sentence or a label rather than a passphrase.
pub(crate) fn sentence(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return true };
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let spoken = words.iter().filter(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_ascii_lowercase();
        SENTENCE_WORDS.contains(word.as_str()) || COMMON_WORDS.contains(word.as_str())
    });
    let capital = text.starts_with(|letter: char| letter.is_ascii_uppercase()) && words.get(1).is_some_and(|word| !mixed(word.as_bytes()));
    words.len() > 12 || spoken.count() * 4 >= words.len() || capital
}

/// Whether letters alone could be a word or a name of several: vowels where words have them.
pub(crate) fn wordy(value: &[u8]) -> bool {
    let vowel = |byte: u8| b"aeiouyAEIOUY".contains(&byte);
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let vowels = value.iter().filter(|byte| vowel(**byte)).count();
    let consonants = value.split(|byte| vowel(*byte) || !byte.is_ascii_alphabetic()).map(<[u8]>::len).max().unwrap_or_default();
    let longest = value.split(|byte| !byte.is_ascii_alphabetic()).map(<[u8]>::len).max().unwrap_or_default();
    letters < 6 || vowels * 5 >= letters && vowels * 3 <= letters * 2 && consonants <= 4 && longest < 20
}

/// Whether there are only letters, with the separators of names.
pub(crate) fn lettered(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b'\'') || *byte >= 0x80)
}
