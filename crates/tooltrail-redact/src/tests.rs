//! Tables of secrets that must be redacted, of look-alikes that must stay, and properties of any text.
//!
//! The secrets are invented: they are generated when the tests run, so that secret scanners do not take this file for a
//! leak.

use proptest::prelude::*;

use super::Redactor;

/// Characters that look random, but are the same every time.
fn drawn(from: &[u8], len: usize) -> String {
    // xorshift32: no dependency, and the same on all machines.
    let mut state: u32 = 0x2545_f491;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(from[state as usize % from.len()])
    };
    (0..len).map(|_| next()).collect()
}

fn plain(len: usize) -> String {
    drawn(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", len)
}

fn hex(len: usize) -> String {
    drawn(b"0123456789abcdef", len)
}

fn upper(len: usize) -> String {
    drawn(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", len)
}

fn redacted(text: &str) -> String {
    Redactor::new(Some("/home/anna"), Some("anna")).text(text.to_owned())
}

/// A text whose labels have lost their numbers: `[token 1]` is `[token]`.
fn unnumbered(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(']') {
        let number = head.len() - head.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let kind = head[..head.len() - number].strip_suffix(' ').filter(|kind| number > 0 && kind.contains('['));
        out.extend([kind.unwrap_or(head), "]"]);
        rest = tail;
    }
    out + rest
}

/// Compares a whole table before it fails, so that all mistakes are shown at once.
fn compare(table: impl IntoIterator<Item = (String, String)>) {
    let wrong =
        table.into_iter().map(|(text, wanted)| (unnumbered(&redacted(&text)), text, wanted)).filter(|(found, _, wanted)| found != wanted);
    let wrong: Vec<String> = wrong.map(|(found, text, wanted)| format!("   text {text}\n  found {found}\n wanted {wanted}\n")).collect();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

/// Tokens by the names of their rules.
fn tokens() -> Vec<(&'static str, String)> {
    let with = |head: &str, rest: String| head.to_owned() + &rest;
    vec![
        ("anthropic key", with("sk-ant-api03-", plain(93))),
        ("anthropic key", with("sk-ant-oat01-", plain(40))),
        ("openai key", with("sk-proj-", plain(60))),
        ("openai key", with("sk-svcacct-", plain(60))),
        ("api key", with("sk-", plain(48))),
        ("api key", with("sk-", hex(32))),
        ("api key", with("sk-or-v1-", hex(64))),
        ("groq key", with("gsk_", plain(52))),
        ("hugging face token", with("hf_", plain(34))),
        ("replicate token", with("r8_", plain(37))),
        ("aws access key id", with("AKIA", upper(16))),
        ("aws access key id", with("ASIA", upper(16))),
        ("google api key", with("AIza", plain(35))),
        ("google oauth token", with("ya29.", plain(60))),
        ("google client secret", with("GOCSPX-", plain(28))),
        ("digitalocean token", with("dop_v1_", hex(64))),
        ("databricks token", with("dapi", hex(32))),
        ("vault token", with("hvs.", plain(24))),
        ("supabase key", with("sbp_", hex(40))),
        ("github token", with("ghp_", plain(36))),
        ("github token", with("gho_", plain(36))),
        ("github token", with("ghs_", plain(36))),
        ("github token", with("github_pat_", plain(22) + "_" + &plain(59))),
        ("gitlab token", with("glpat-", plain(20))),
        ("npm token", with("npm_", plain(36))),
        ("pypi token", with("pypi-AgEI", plain(120))),
        ("crates.io token", with("cio", plain(32))),
        ("docker token", with("dckr_pat_", plain(27))),
        ("slack token", with("xoxb-", drawn(b"0123456789", 12) + "-" + &plain(24))),
        ("stripe key", with("sk_live_", plain(24))),
        ("stripe key", with("rk_live_", plain(24))),
        ("stripe key", with("sk_test_", plain(24))),
        ("sendgrid key", with("SG.", plain(22) + "." + &plain(43))),
        ("twilio key", with("SK", hex(32))),
        ("telegram token", drawn(b"123456789", 10) + ":AA" + &plain(33)),
        ("discord token", with("MTIzNDU2Nzg5MDEyMzQ1Njc4.", plain(6) + "." + &plain(38))),
        ("linear key", with("lin_api_", plain(40))),
        ("notion token", with("secret_", plain(43))),
        ("notion token", with("ntn_", plain(46))),
        ("sentry token", with("sntrys_", plain(60))),
        ("json web token", with("eyJ", plain(33) + ".eyJ" + &plain(60) + "." + &plain(43))),
        ("json web token", with("eyJ", plain(33) + ".eyJ" + &plain(60))),
    ]
}

#[test]
fn a_value_that_begins_like_an_option_is_seen() {
    let out = |value: &str| Redactor::default().text(format!("CLOUDFLARE_API_TOKEN={value}\n"));
    assert_eq!(out("--beQYc0uZmjWfPVfQGZnq7qBX2e5KyKtneUYYS0").matches("beQY").count(), 0);
    for option in ["--output-format", "--no-ignore-parent-directories", "--experimental-strip-types-v2"] {
        assert!(out(option).contains(option), "{option}");
    }
}

#[test]
fn tokens_go_wherever_they_stand() {
    // Contexts of real logs: settings, JSON, JSON within JSON, escapes, colours, headers, URLs, diffs, other scripts.
    const AROUND: [(&str, &str); 12] = [
        ("", ""),
        ("use ", " for it"),
        ("export SOME_TOKEN=", "\nnext"),
        ("{\"token\": \"", "\"}"),
        ("{\\\"token\\\":\\\"", "\\\"}"),
        ("first\\n", "\\nlast"),
        ("\u{1b}[32m", "\u{1b}[0m"),
        ("Authorization: Bearer ", ""),
        ("-H 'x-api-key: ", "' https://api.example.com"),
        ("https://example.com/?q=", "&page=2"),
        ("+", "\n"),
        ("(ключ ", ") 鍵"),
    ];
    let each = |(name, token): (&str, String)| {
        AROUND.map(|(before, after)| (format!("{before}{token}{after}"), format!("{before}[{}]{after}", name.replace(' ', "-"))))
    };
    compare(tokens().into_iter().flat_map(each));
}

/// Secrets without a shape of their own, with what is left of each text. `$L` and `$AWS` stand for generated values.
const OTHER_SECRETS: &[(&str, &str)] = &[
    // Named values.
    ("DB_PASSWORD=hunter2\n", "DB_PASSWORD=[password]\n"),
    ("password: s3cr3t-Value!", "password: [password]"),
    ("{\"password\":\"Tr0ub4dor&3\",\"a\":1}", "{\"password\":\"[password]\",\"a\":1}"),
    ("{\\\"passwd\\\": \\\"Tr0ub4dor&3\\\"}", "{\\\"passwd\\\": \\\"[password]\\\"}"),
    ("const dbPassword = 'qwe123rty';", "const dbPassword = '[password]';"),
    ("let password: &str = \"qwe123rty\";", "let password: &str = \"[password]\";"),
    ("password = \"a(b[c1\"", "password = \"[password]\""),
    ("mysql --password=qwe123rty db", "mysql --password=[password] db"),
    ("tool --db-password qwe123rty --x", "tool --db-password [password] --x"),
    ("PGPASSWORD=qwe123rty psql", "PGPASSWORD=[password] psql"),
    ("os.environ[\"API_TOKEN\"] = \"$L\"", "os.environ[\"API_TOKEN\"] = \"[token]\""),
    ("aws_secret_access_key = $AWS", "aws_secret_access_key = [secret]"),
    ("\"SecretAccessKey\": \"$AWS\"", "\"SecretAccessKey\": \"[secret]\""),
    ("client_secret=$L&x=1", "client_secret=[secret]&x=1"),
    ("api_key: $L", "api_key: [api-key]"),
    ("apiKey: '$L',", "apiKey: '[api-key]',"),
    ("X-Api-Key: $L", "X-Api-Key: [api-key]"),
    ("?access_token=$L&b=2", "?access_token=[token]&b=2"),
    ("token%3D$L", "token%3D[token]"),
    ("//registry.npmjs.org/:_authToken=$L", "//registry.npmjs.org/:_authToken=[token]"),
    ("<password>qwe123rty</password>", "<password>[password]</password>"),
    ("CREATE USER x WITH PASSWORD 'qwe123rty';", "CREATE USER x WITH PASSWORD '[password]';"),
    ("password=$2b$12$$L", "password=[password-hash]"),
    ("GRAPH_PASSWORD=opensaysme", "GRAPH_PASSWORD=[password]"),
    ("${DB_PASSWORD:-qwe123rty}", "${DB_PASSWORD:-[password]}"),
    ("OPENAI_KEY=$L", "OPENAI_KEY=[key]"),
    // Headers.
    ("Authorization: Bearer $L", "Authorization: Bearer [bearer-token]"),
    ("\"Authorization\": \"bearer $L\"", "\"Authorization\": \"bearer [bearer-token]\""),
    ("Authorization: Basic YW5uYTpodW50ZXIy", "Authorization: Basic [basic-credentials]"),
    ("{\"auth\": \"YW5uYTpodW50ZXIy\"}", "{\"auth\": \"[basic-credentials]\"}"),
    ("Cookie: theme=dark; sid=$L\n", "Cookie: theme=dark; sid=[cookie]\n"),
    // URLs.
    ("postgres://app:s3cr3t@db.host:5432/x", "postgres://app:[password-in-url]@db.host:5432/x"),
    ("https://app:p@ss@host/x", "https://app:[password-in-url]@host/x"),
    ("redis://:s3cr3t@cache:6379", "redis://:[password-in-url]@cache:6379"),
    ("https://$L@o1.ingest.sentry.io/2", "https://[password-in-url]@o1.ingest.sentry.io/2"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Signature=$L&a=1", "https://b.s3.amazonaws.com/k?X-Amz-Signature=[signature]&a=1"),
    ("https://x.blob.core.windows.net/c?sv=1&sig=$L%3D", "https://x.blob.core.windows.net/c?sv=1&sig=[signature]"),
    ("AccountName=a;AccountKey=$L$L==;E=1", "AccountName=a;AccountKey=[azure-key];E=1"),
    ("https://hooks.slack.com/services/T0/B0/$L", "https://hooks.slack.com/services/[slack-webhook]"),
    ("https://discord.com/api/webhooks/123456789/$L", "https://discord.com/api/webhooks/[discord-webhook]"),
    // Short options.
    ("curl -sS -u jane:hunter2 https://x.dev", "curl -sS -u jane:[password] https://x.dev"),
    ("curl https://x.dev \\\n  -u \"jane:open sesame\"", "curl https://x.dev \\\n  -u \"jane:[password]\""),
    ("$(curl --user 'jane:hunter2' x)", "$(curl --user 'jane:[password]' x)"),
    ("/usr/bin/mysql -uroot -popensesame db", "/usr/bin/mysql -uroot -p[password] db"),
    ("cd x && mysqldump -p'open sesame' db", "cd x && mysqldump -p'[password]' db"),
    ("sshpass -p hunter2 ssh -p 2222 host", "sshpass -p [password] ssh -p 2222 host"),
    ("docker login -u jane -p hunter2 r.io", "docker login -u jane -p [password] r.io"),
    // Addresses.
    ("mail anna.smith+x@corp.co.uk.", "mail [e-mail-address]."),
    ("Author: A <anna@gmail.com>", "Author: A <[e-mail-address]>"),
    ("line\\nanna@gmail.com\\n", "line\\n[e-mail-address]\\n"),
    ("?email=anna%40gmail.com&x", "?email=[e-mail-address]&x"),
    ("a@notexample.com", "[e-mail-address]"),
    ("li@163.com", "[e-mail-address]"),
    ("123+anna@users.noreply.github.com", "[e-mail-address]"),
];

#[test]
fn other_secrets_go() {
    let aws = plain(20) + "/" + &plain(19);
    let long = plain(32);
    let filled = |(text, wanted): &(&str, &str)| (text.replace("$AWS", &aws).replace("$L", &long), (*wanted).to_owned());
    compare(OTHER_SECRETS.iter().map(filled));
}

#[test]
fn paths_lose_their_owner() {
    let table = [
        ("cd /home/anna/app", "cd ~/app"),
        ("\"/home/anna\"", "\"~\""),
        ("first\\n/home/anna/x", "first\\n~/x"),
        ("file:///home/anna/x", "file://~/x"),
        ("gcc -I/home/anna/include", "gcc -I~/include"),
        ("\\/home\\/anna\\/x", "~\\/x"),
        ("%2Fhome%2Fanna%2Fx", "~%2Fx"),
        ("/home/annabel/x /home/anna-b/x", "/home/user/x /home/user/x"),
        ("/home/bob/x /Users/carol/y", "/home/user/x /Users/user/y"),
        ("/mnt/c/Users/carol/y", "/mnt/c/Users/user/y"),
        ("C:\\Users\\Carol Smith\\y", "C:\\Users\\user\\y"),
        ("C:\\\\Users\\\\carol\\\\y", "C:\\\\Users\\\\user\\\\y"),
        ("c:\\users\\carol", "c:\\users\\user"),
        ("~/.claude/projects/-home-anna-app/x", "~/.claude/projects/-home-user-app/x"),
        ("~/.claude/projects/-home-bob-app/x", "~/.claude/projects/-home-user-app/x"),
        ("dir = \"-Users-carol-app\" C--Users-carol-app", "dir = \"-Users-user-app\" C--Users-user-app"),
        ("diff --git a/Users/carol/x b/home/bob/x", "diff --git a/Users/user/x b/home/user/x"),
        ("-Users-anna-app", "-Users-user-app"),
        ("/data/anna/x", "/data/user/x"),
        ("D:\\work\\anna\\x", "D:\\work\\user\\x"),
        ("anna@laptop:~$ ls", "user@laptop:~$ ls"),
        ("drwxr-xr-x 2 anna anna 4096 May 1 10:00 anna", "drwxr-xr-x 2 user user 4096 May 1 10:00 anna"),
    ];
    compare(table.map(|(text, wanted)| (text.to_owned(), wanted.to_owned())));
    let windows = Redactor::new(Some("C:\\Users\\anna"), Some("anna"));
    for (text, wanted) in [("C:\\Users\\anna\\x", "~\\x"), ("C:\\\\Users\\\\anna\\\\x", "~\\\\x"), ("C:/Users/anna/x", "~/x")] {
        assert_eq!(windows.text(text.to_owned()), wanted, "in {text}");
    }
    // A user who is called like a directory.
    assert_eq!(Redactor::new(None, Some("dev")).text("ls /dev/null".to_owned()), "ls /dev/null");
}

#[test]
fn private_keys_go_as_a_whole() {
    let key = format!("{}\n{}\n{}", plain(64), plain(64), plain(20));
    let (begin, end) = ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----");
    let whole = format!("{begin}\n{key}\n{end}");
    let numbered: String = whole.lines().enumerate().map(|(number, line)| format!("{:>6}→{line}\n", number + 1)).collect();
    compare([
        (format!("a\n{whole}\nb"), "a\n[private-key]\nb".to_owned()),
        (format!("{{\"key\": \"{}\\n\"}}", whole.replace('\n', "\\n")), "{\"key\": \"[private-key]\\n\"}".to_owned()),
        (numbered, "     1→[private-key]\n".to_owned()),
        (whole.replace("OPENSSH", "RSA"), "[private-key]".to_owned()),
        (format!("-{}\n a", whole.replace('\n', "\n-")), "-[private-key]\n a".to_owned()),
        (whole.replace("OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "[private-key]".to_owned()),
        // Cut off.
        (format!("{begin}\n{key}"), "[private-key]".to_owned()),
        (format!("{begin}\n{}\nand then prose that goes on", plain(64)), "[private-key]\nand then prose that goes on".to_owned()),
        (format!("said\n{key}\n{end}\nb"), "said\n[private-key]\nb".to_owned()),
        (format!("a: {}\n  7→{key}\n  9→{end}", &plain(64)[50..]), format!("a: {}\n  7→[private-key]", &plain(64)[50..])),
        (format!("{}\n{key}\n{end}", &plain(64)[50..]), "[private-key]".to_owned()),
        (format!("a short line\n{end}"), format!("a short line\n{end}")),
    ]);
}

/// Texts that look like secrets, but are none.
const LOOK_ALIKES: &[&str] = &[
    // Sums, ids, versions.
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-q1cD7yYbW0lHMb1k2W0n6Gq5xkqVQyW3cC2J1o1oVv0a4mV8r5m8s4rI0b6D0d7e8f9A1B2C3D4E5F6a7b8c9==",
    "toolu_01A09q90qw90lq917835lq9 req_011CSHoEeqs5C35K2UUqR7Fy msg_01XFDUDYJgAACzvnptvVoYEL",
    "index 83db48f..bf2a9c1 100644",
    "foo@1.2.3 lodash@4.17.21.tgz react@18.3.0-rc.next actions/checkout@v4.x pkg@1.0.0-beta.dev",
    // Options.
    "curl -u jane https://x.dev; curl -u $U:$P x; docker run -u 1000:1000 -u app:staff -p 8080:80 x; git push -u origin:main",
    "mysql -u root -p db; mysql -p; mysql -p$PASS; mkdir -p a/b; ssh -p 2222 host; cargo test -p parser; mysql x | ssh -pfoo",
    // Words.
    "task-list-item risk-free-of-charge-and-very-long desk-0123456789abcdefghijkl",
    "class=\"sk-fading-circle sk-circle12-with-a-long-name\"",
    "the token is a word; a password: yes; secret: no",
    "Bearer token authentication, bearer of bad news, basic authentication, Basic functionality",
    "pwd; ls PWD=/srv/app OLDPWD=/srv",
    "anna said that Anna likes banana and/or anna's",
    // Code.
    "password: string; token: String, secret?: Uint8Array; api_key: Option<String>",
    "password: Yup.string().min(8), token: z.string(), secret: getSecret2()",
    "max_tokens=4096 tokens: 41000 \"input_tokens\":12,\"cache_creation_input_tokens\": 123456 token_count=99",
    "tokenizer: \"cl100k_base\", token_type: 'bearer', tokenId: 'button-primary-2'",
    "--password-stdin --token-file /run/secrets/t --secret id=npmrc,src=/x/.npmrc",
    "password = process.env.DB_PASSWORD2; token = os.environ['TOKEN']; secret = config.secretV2",
    "connect(password=pw2, token=token1)",
    "if token == \"abc123def456ghi789\"",
    "self.db2_password = db2_password; pool_token_address=\"0x4cE81f0A93bD27c65E1a8F3b90D72e5A6c41B8f3\"",
    "'password' => 'required|string|min:8', s3://data/tokenizer=words-48k-v2/part=small_v2/",
    "Password: super::super::Win32::UNICODE_STRING, Passwd=credentials[1], use_password = creds[0]",
    "pub const ChangePassword: MSV1_0_MESSAGE_TYPE = 5; socks5h://<username>:<password>@proxy-host1",
    "self.token = next_token_2; let api_key = key2;",
    "secretKeyRef:\n  name: db-credentials-2\n  key: password",
    "secretName: my-app-tls-v2, secret: projects/p1/secrets/s1",
    "type=\"password\" autocomplete=\"current-password\" id='password-input-1'",
    "\"password\": \"Enter your password\", \"password\": \"Passwort\"",
    "password: null, token: None, secret: undefined, api_key: true",
    "@decorator.method @property.setter A@B.T x@y.mean(axis)",
    "@org/pkg @babel/core@npm:^7.0.0 image@sha256:0a1b2c3d icon@2x.png getty@tty1.service",
    "PRIMARY_KEY=1 foreign_key: 'user_id' PUBLIC_KEY=mQINBF3k9x0BEAC7f2Zq1Lw8Hs5v",
    "npm_config_registry npm_package_version hf_hub_download_to_local_dir_use_symlinks cioooo",
    // Placeholders.
    "DB_PASSWORD=password DB_PASSWORD=app_password ASK_PASSWORD=false SECRET_KEY=your-secret-key-here",
    "TOKEN=$TOKEN PASSWORD=${DB_PASSWORD} secret=<secret> password=changeme api_key=your-api-key-1234",
    "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Authorization: Bearer ${token}",
    "password=xxxxxxxx password=******** password=... token: \"{{ token }}\" secret=[REDACTED]",
    "sk-ant-... sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE",
    "token=%s&secret={} password={password1}",
    // Addresses.
    "git@github.com:o/r.git ssh://git@gitlab.com/o/r.git noreply@anthropic.com someone@example.com a@b.example",
    "ssh-ed25519-cert-v01@openssh.com chacha20-poly1305@openssh.com x@mail.example.org",
    "scp user@host:/x . root@localhost me@laptop",
    "localhost:8080 https://example.com/path@2 http://localhost:3000/@vite/client https://unpkg.com/a@2/b.js",
    "postgres://user:password@localhost/db mysql://root:root@db https://user:${PASS}@host https://user@host.com/x",
    // Keys that are public, and keys that are none.
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1a2b3c4d5e6f\n-----END PUBLIC KEY-----",
    "text.startswith(\"-----BEGIN PRIVATE KEY-----\") and more of it",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJk2n5m1o9Qw8e7R6t5Y4u3I2o1P0a9S8d7F6g5H4j3K",
    "aW1wb3J0IG9zCmZvciBpIGluIHJhbmdlKDEwKToKICAgIHByaW50KGkpCg==",
    // Paths.
    "/home/user/x /home/runner/work /Users/Shared /home/index.html src/home/page.tsx https://x.dev/home/about",
    "my-home-page --home-dir /x/home/y /rootfs /homes/anna.txt",
];

#[test]
fn look_alikes_stay() {
    compare(LOOK_ALIKES.iter().map(|text| ((*text).to_owned(), (*text).to_owned())));
}

#[test]
fn images_are_not_read() {
    // Contains triggers, so the test would fail if the image were read.
    let image = "iVBORw0KGgo".to_owned() + &"ghpA".repeat(300) + "AKIA";
    let redactor = Redactor::default();
    assert_eq!(redactor.text(image.clone()), image);
    assert!(crate::redactor::is_image(&image) && !crate::redactor::is_image(&(image + " ")));
}

#[test]
fn what_is_taken_is_counted() {
    let redactor = Redactor::new(Some("/home/anna"), None);
    redactor.text("a@corp.com b@corp.com /home/anna/x".to_owned());
    redactor.text(format!("ghp_{} github_pat_{}", plain(36), plain(40)));
    assert_eq!(redactor.taken(), [("github token", 2), ("e-mail address", 2), ("home directory", 1)]);
}

/// Parts that rules look at, joined in any way.
fn pieces() -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> = tokens().into_iter().map(|(_, token)| token).collect();
    pieces.extend(crate::rules::RULES.iter().flat_map(|rule| rule.triggers.iter().map(|trigger| (*trigger).to_owned())));
    pieces.extend(
        ["=", ": ", "\"", "\\\"", "\\n", "\n", " ", "ä", "→", "/home/anna", "anna", "-----", "END ", "PRIVATE KEY-----"].map(str::to_owned),
    );
    pieces.extend(["@corp.com", "x1y2z3a4b5c6d7", "%3D", "://", ":", "@", "hunter2", "'", "/", "-"].map(str::to_owned));
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

/// Each repeated, makes a rule look far ahead or back, and gives it nothing to take.
const CRAFTED: &[&str] = &[
    "secret=",
    "token='",
    "password: \"",
    "key=a,",
    "eyJ-",
    "eyJ.",
    "sk-ant-",
    "fw_",
    "glpat-",
    "cookie:a=",
    "bearer a",
    " -p",
    " -pa",
    "mysql -p",
    "sudo -S ",
    "echo x | sudo -S ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "AccountKey=",
    "://a:",
    "name: password\n",
    "a@",
    "-home-",
    "/home/",
    ":*:",
    "pass:",
    "\\",
    "\\n",
    "\u{1b}[",
    "&#",
    "%2",
    "abandon ",
    "QUJD",
    "Private-Lines: 9\n",
    "auth(\"a\",",
    "is ",
    "| token ",
];

#[test]
fn crafted_texts_take_no_longer_than_their_length() {
    const SIZE: usize = 24 << 10;
    let time = |part: &str, size: usize| {
        let text = part.repeat(size / part.len());
        let start = std::time::Instant::now();
        redacted(&text);
        start.elapsed().as_micros()
    };
    for part in CRAFTED {
        // Four times the text takes four times as long, and sixteen times if a rule looks at pairs of positions. The machine may be busy, so
        // one good try is enough.
        let mut tries = Vec::new();
        let linear = |(small, large): &(u128, u128)| *large < 9 * small + 20_000;
        // What looks far at every position shows in the time of each byte.
        let quick = |(_, large): &(u128, u128)| *large < 4 * SIZE as u128 * 100;
        let good = (0..5).any(|_| {
            let tried = (time(part, SIZE), time(part, 4 * SIZE));
            tries.push(tried);
            linear(&tried) && quick(&tried)
        });
        assert!(good, "{part:?}: {tries:?} µs");
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_without_panic(text in any::<String>()) {
        redacted(&text);
    }

    #[test]
    fn a_second_time_changes_nothing(text in pieces()) {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once);
    }

    #[test]
    fn text_without_secrets_stays(words in prop::collection::vec("[a-z]{1,9}|[0-9]{1,5}|fn|let|[(){};,.]", 0..60)) {
        let text = words.join(" ");
        prop_assert_eq!(redacted(&text), text);
    }
}
