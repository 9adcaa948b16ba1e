//! Names that say that their value is a secret, in any spelling: `dbPassword`, `DB_PASSWORD`, `spring.datasource.password`.
//!
//! A name is cut into words. The last words decide: `api_token` names a token, `token_count` a count.

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NameClass {
    /// Chosen by a person or generated; any literal counts.
    Password,
    /// Mostly generated; any literal counts.
    Secret,
    /// Generated. The word is also used for other things, so a plain word does not count.
    Token,
    /// `pass`, `pwd`, `auth` alone, which mean other things as often.
    Weak,
    /// A key of which the name does not say what it opens: only what is drawn by chance counts.
    Any,
}

/// What a name says, and how to call the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SecretName {
    pub(crate) kind: &'static str,
    pub(crate) class: NameClass,
}

/// Words that may follow the word that counts.
const ENDINGS: &str = "value val prod production dev development staging stage test testing live env default old new current raw plain plaintext \
    b64 base64 hash hashed enc encrypted string literal override bytes hex primary secondary backup";

/// Words in front of `token` that make it something else: of language models, pages, parsers, designs.
const OTHER_TOKENS: &str = "max min num count total per prompt completion input output cache cached context next prev previous page pagination continuation \
    bos eos pad unk sep cls mask special stop end start first last design theme color syntax semantic lex lexer peek consume expect current_ \
    budget reasoning thinking image audio text end_of sync change cancellation cancel punct ident keyword string number operator string_ line \
    close open left right comma colon semicolon public";

/// Words in front of `key` that say that it opens something.
const KEYS: &str = "api access secret private priv encryption encrypt decryption decrypt signing sign signature master auth account subscription shared \
    license application consumer integration deploy crypto cipher aes hmac jwt admin ingest sas preshared unseal recovery wrapping \
    symmetric service role authorization nonce secure psk ssh rsa tls ssl server wif minter deployer wallet cookie session app webhook bot sdk";

/// Words in front of `key` that say that everyone may know it.
const OPEN_KEYS: &str = "public pub publishable anon primary foreign cache sort partition host index idempotency map object lookup row group route routing query \
    registry translation message i18n sorting verify verification";

/// What stands before `pass` and `pw` in a word of both.
const OWNERS: &str = "db user root admin store key bind smtp mysql redis ftp mail my pg login http https proxy src dest trust ldap sql mongo rabbit vnc wifi new old \
    test sudo master tls ssl cert repl api web host ssh rdp vpn olcroot require";

/// What the name says; `None` where it names no secret.
pub(crate) fn classify(name: &[u8]) -> Option<SecretName> {
    let words = split(name);
    let mut words = words.as_slice();
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && (listed(ENDINGS, last)
            || last.iter().all(u8::is_ascii_digit)
            || is(last, b"base") && rest.last().is_some_and(|word| ends(word, b"key")))
    {
        words = rest;
    }
    // `client-key-data` of a kubeconfig.
    if let [.., owner, key, data] = words
        && is(data, b"data")
        && is(key, b"key")
        && (is(owner, b"client") || is(owner, b"private"))
    {
        return Some(SecretName { kind: "private key", class: NameClass::Secret });
    }
    if name.get(..21).is_some_and(|head| is(head, b"fs.azure.account.key.")) {
        return named("azure key", NameClass::Secret);
    }
    let (last, before) = words.split_last()?;
    password(last, before).or_else(|| token(last, before)).or_else(|| key(last, before, name)).or_else(|| other(last, before, name))
}

fn named(kind: &'static str, class: NameClass) -> Option<SecretName> {
    Some(SecretName { kind, class })
}

fn password(last: &[u8], before: &[&[u8]]) -> Option<SecretName> {
    const WHOLE: &str = "password passwd passphrase passwort kennwort passcode motdepasse contrasena senha wachtwoord haslo";
    let owned = |tail: &[u8]| ends(last, tail) && listed(OWNERS, &last[..last.len() - tail.len()]);
    if listed(WHOLE, last) || [&b"password"[..], b"passwd", b"passphrase"].iter().any(|word| ends(last, word)) {
        return named("password", NameClass::Password);
    }
    let short = ["pass", "pwd", "pw", "psk", "passwd"].iter().any(|word| is(last, word.as_bytes()));
    // `pass` alone counts tests as often; `PWD` alone is a directory.
    match before.last() {
        Some(owner) if short && !is(owner, b"old") && (listed(OWNERS, owner) || !is(last, b"pass")) => {
            named("password", NameClass::Password)
        }
        // `KeePass` is a program.
        Some(owner) if short && !is(owner, b"kee") => named("password", NameClass::Password),
        None if is(last, b"psk") => named("password", NameClass::Password),
        None if short => named("password", NameClass::Weak),
        _ if owned(b"pass") || owned(b"pw") || owned(b"pwd") => named("password", NameClass::Password),
        _ => None,
    }
}

fn token(last: &[u8], before: &[&[u8]]) -> Option<SecretName> {
    if ends(last, b"secret") {
        return named("secret", NameClass::Secret);
    }
    let head = last.strip_suffix(b"token").or_else(|| last.strip_suffix(b"Token")).or_else(|| last.strip_suffix(b"TOKEN"))?;
    let other = before.iter().any(|word| listed(OTHER_TOKENS, word)) || !head.is_empty() && listed(OTHER_TOKENS, head);
    (!other).then_some(SecretName { kind: "token", class: NameClass::Token })
}

fn key(last: &[u8], before: &[&[u8]], name: &[u8]) -> Option<SecretName> {
    if !ends(last, b"key") {
        return None;
    }
    let head = &last[..last.len() - 3];
    let owner = if head.is_empty() { before.last().copied().unwrap_or_default() } else { head };
    let above = if head.is_empty() { before.iter().rev().nth(1).copied() } else { before.last().copied() }.unwrap_or_default();
    if listed(OPEN_KEYS, owner) || listed(OPEN_KEYS, above) {
        return None;
    }
    let kind = match owner {
        _ if is(owner, b"api") || is(owner, b"app") || is(owner, b"subscription") => "api key",
        _ if is(owner, b"access") && is(above, b"secret") || is(owner, b"secret") => "secret",
        _ if is(owner, b"access") => "access key",
        _ if is(owner, b"private") || is(owner, b"priv") => "private key",
        _ => "key",
    };
    if listed(KEYS, owner) {
        return named(kind, NameClass::Secret);
    }
    let capitals = name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.'));
    let whole = head.is_empty() && !before.is_empty();
    (whole && (capitals || is(owner, b"client"))).then_some(SecretName { kind: "key", class: NameClass::Any })
}

fn other(last: &[u8], before: &[&[u8]], name: &[u8]) -> Option<SecretName> {
    if listed("credential credentials creds cred", last) {
        // `Access-Control-Allow-Credentials`, `withCredentials`.
        if before.last().is_some_and(|word| listed("allow with", word)) {
            return None;
        }
        return named("credentials", NameClass::Token);
    }
    if is(last, b"authorization") {
        return named("authorization", NameClass::Token);
    }
    if is(last, b"auth") && (before.is_empty() || name.starts_with(b"_")) {
        return named("credentials", NameClass::Weak);
    }
    if is(last, b"salt") && !before.is_empty() {
        return named("key", NameClass::Any);
    }
    // Chance makes some of their values look like words.
    if listed("phpsessid jsessionid sessid", last) {
        return named("key", NameClass::Token);
    }
    None
}

fn is(word: &[u8], other: &[u8]) -> bool {
    word.eq_ignore_ascii_case(other)
}

fn ends(word: &[u8], tail: &[u8]) -> bool {
    word.len() >= tail.len() && is(&word[word.len() - tail.len()..], tail)
}

fn listed(list: &str, word: &[u8]) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|known| is(known.as_bytes(), word))
}

/// The words of a name: parted by signs, digits and changes of case.
fn split(name: &[u8]) -> Vec<&[u8]> {
    const MOST: usize = 24;
    let mut words = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < name.len() {
        let byte = name[at];
        if !byte.is_ascii_alphabetic() {
            push(&mut words, &name[from..at]);
            from = at + 1;
            // Digits are words of their own only where letters follow without a sign: `s3a`.
        } else if at > from && byte.is_ascii_uppercase() {
            let next_small = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if name[at - 1].is_ascii_lowercase() || next_small && name[at - 1].is_ascii_uppercase() {
                push(&mut words, &name[from..at]);
                from = at;
            }
        }
        at += 1;
    }
    push(&mut words, &name[from..]);
    let skip = words.len().saturating_sub(MOST);
    words.split_off(skip)
}

fn push<'n>(words: &mut Vec<&'n [u8]>, word: &'n [u8]) {
    if !word.is_empty() {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_in_any_spelling() {
        for name in "password DB_PASSWORD dbPassword spring.datasource.password user-password passwd MYSQL_PWD smtp_pass bindpw rootpw keyPassword \
            apiKey api_key API-KEY X-Api-Key accessKey aws_secret_access_key fs.s3a.secret.key client_secret clientSecret SECRET_KEY_BASE authToken \
            _authToken access_token refreshToken GITHUB_TOKEN csrf_token private_key PrivateKey PresharedKey encryption_key client-key-data \
            credentials Authorization Proxy-Authorization jwtSecret passphrase token2 APIKey APISecret password_hash hashedPassword AccountKey \
            wpa_passphrase STRIPE_SECRET_KEY DB_PASS userPass redisPassword"
            .split_ascii_whitespace()
        {
            let class = classify(name.as_bytes()).map(|name| name.class);
            assert!(matches!(class, Some(NameClass::Password | NameClass::Secret | NameClass::Token)), "{name}: {class:?}");
        }
    }

    #[test]
    fn names_of_other_things_are_none() {
        for name in "token_count max_tokens maxToken nextPageToken tokens tokenizer password_file passwordField secretName secret_name key primary_key \
            public_key keyboard compass bypass passed author authority authentication monkey turkey foreign_key cacheKey token_type tokenId \
            access_key_id client_id passwordless password_policy secretRef keys hotkey eos_token PUBLIC_KEY tokenUrl password.length"
            .split_ascii_whitespace()
        {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
