//! The list of redaction rules. A new kind of secret is one line here, and one in each table of `tests.rs`.
//!
//! Where several rules have a trigger at the same position, the first that applies wins. Rules of one name are counted
//! together.

use super::guess::Strength;
use super::spot::{Take, TriggerSpot};
use super::tokens::{self, LONGEST, Letters, Token};
use super::{address, assign, options, paths, url};

/// One kind of secret: its name, where to look for it, and how to recognise it.
pub(super) struct Rule {
    /// Name in the mark that replaces the secret.
    pub(super) name: &'static str,
    /// Texts at which the rule looks. ASCII only.
    pub(super) triggers: &'static [&'static str],
    /// Whether case is ignored in triggers.
    pub(super) fold: bool,
    /// Test that decides at a trigger.
    pub(super) check: Check,
}

/// Test that recognises a secret.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// Characters that follow the trigger.
    Token(Token),
    /// The name of the value, which contains the trigger.
    Named(Strength),
    /// A shape of its own.
    Shape(fn(TriggerSpot<'_>) -> Option<Take>),
    /// The home directory that the redactor was given.
    Home,
    /// The user name that the redactor was given.
    User,
}

use Check::Named;
use Letters::{Dotted, Hex, Path, Plain, Upper, Url};

/// All rules.
pub(super) const RULES: &[Rule] = &[
    // Specific prefixes before general ones: the first rule that matches names the secret.
    // Keys of models.
    long("anthropic key", &["sk-ant-"], Url, 16),
    long("openai key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Url, 20),
    long("api key", &["sk-or-v1-", "sk-lf-", "pplx-", "tvly-", "fw_", "jina_"], Url, 28),
    long("groq key", &["gsk_"], Plain, 40),
    long("xai key", &["xai-"], Plain, 40),
    sized("replicate token", &["r8_"], Plain, 37, 40),
    sized("hugging face token", &["hf_"], Plain, 30, 40),
    long("langsmith key", &["lsv2_pt_", "lsv2_sk_"], Url, 32),
    long("pinecone key", &["pcsk_"], Url, 40),
    shape("api key", &["sk-"], tokens::secret_key),
    // Clouds.
    sized("aws access key id", &["AKIA", "ASIA", "ABIA"], Upper, 16, 16),
    sized("google api key", &["AIza"], Url, 35, 35),
    long("google oauth token", &["ya29."], Dotted, 20),
    sized("google client secret", &["GOCSPX-"], Url, 24, 32),
    long("google refresh token", &["1//0"], Url, 30),
    long("azure key", &["AccountKey=", "SharedAccessKey="], Path, 40).named(),
    sized("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 32, 64),
    sized("databricks token", &["dapi"], Hex, 32, 32),
    long("vault token", &["hvs.", "hvb.", "hvr."], Url, 24),
    long("vercel token", &["vercel_blob_rw_", "vcp_"], Url, 24),
    long("fly token", &["FlyV1 fm", "fm2_"], Path, 40),
    long("supabase key", &["sbp_", "sb_secret_"], Url, 20),
    long("planetscale token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 30),
    long("doppler token", &["dp.pt.", "dp.st.", "dp.sa.", "dp.ct."], Plain, 40),
    // Forges and registries.
    long("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Plain, 30),
    long("github token", &["github_pat_"], Url, 22),
    long("gitlab token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "gloas-", "glsoat-", "glagent-"], Dotted, 20),
    sized("npm token", &["npm_"], Plain, 36, 36),
    long("pypi token", &["pypi-AgEI"], Url, 20),
    sized("crates.io token", &["cio"], Plain, 32, 32),
    sized("rubygems key", &["rubygems_"], Hex, 48, 48),
    sized("nuget key", &["oy2"], Plain, 43, 43),
    long("docker token", &["dckr_pat_", "dckr_oat_"], Url, 20),
    // Services.
    long("slack token", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-1-"], Path, 20),
    long("slack webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], Path, 20).named(),
    long("discord webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Path, 30).named(),
    shape("discord token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"], tokens::discord),
    shape("telegram token", &[":AA"], tokens::telegram),
    long("stripe key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], Plain, 16),
    long("stripe webhook secret", &["whsec_"], Path, 24),
    long("shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], Hex, 32),
    long("square token", &["sq0atp-", "sq0csp-"], Url, 22),
    shape("sendgrid key", &["SG."], tokens::sendgrid),
    sized("twilio key", &["SK"], Hex, 32, 32),
    sized("mailgun key", &["key-"], Hex, 32, 32),
    long("sentry token", &["sntrys_", "sntryu_"], Path, 30),
    long("linear key", &["lin_api_", "lin_oauth_"], Plain, 30),
    sized("notion token", &["secret_"], Plain, 43, 43),
    sized("notion token", &["ntn_"], Plain, 40, 50),
    long("figma token", &["figd_"], Url, 30),
    long("postman key", &["PMAK-"], Url, 30),
    long("new relic key", &["NRAK-"], Upper, 24),
    long("grafana token", &["glsa_", "glc_"], Path, 30),
    long("atlassian token", &["ATATT3x", "ATCTT3x"], Path, 40),
    long("age key", &["AGE-SECRET-KEY-1"], Upper, 40),
    // Credentials that contain or sign others.
    shape("private key", &["-----BEGIN "], tokens::private_key),
    shape("private key", &["-----END "], tokens::key_tail),
    shape("json web token", &["eyJ"], tokens::jwt),
    folded("bearer token", &["bearer"], Check::Shape(tokens::bearer)),
    folded("basic credentials", &["basic", "auth"], Check::Shape(tokens::basic)),
    folded("cookie", &["cookie:"], Check::Shape(tokens::cookie)),
    long("signature", &["X-Amz-Signature=", "X-Amz-Security-Token=", "X-Goog-Signature=", "&Signature=", "?Signature="], Path, 20).named(),
    long("signature", &["?sig=", "&sig=", "&amp;sig="], Path, 20).named(),
    shape("password in url", &["://"], url::userinfo),
    shape("password", &[" -u ", " -u\"", " -u'", " --user ", " --user=", " --proxy-user "], options::user),
    shape("password", &[" -p"], options::password),
    // Recognised by name only.
    folded("password", &["password", "passwd", "passphrase", "passwort", "pwd"], Named(Strength::Password)),
    folded("secret", &["secret"], Named(Strength::Secret)),
    folded("api key", &["api_key", "apikey", "api-key"], Named(Strength::Token)),
    folded("key", &["access_key", "accesskey", "access-key", "private_key", "private-key", "privatekey"], Named(Strength::Token)),
    folded("key", &["encryption_key", "encryptionkey", "signing_key", "signingkey", "master_key", "auth_key"], Named(Strength::Token)),
    folded("key", &["account_key", "accountkey", "service_key", "subscription-key", "service_role_key"], Named(Strength::Token)),
    Rule { name: "key", triggers: &["_KEY="], fold: false, check: Check::Shape(assign::key_setting) },
    folded("token", &["token"], Named(Strength::Token)),
    folded("authorization", &["authorization"], Named(Strength::Token)),
    // People.
    shape("e-mail address", &["@", "%40"], address::email),
    Rule { name: "home directory", triggers: &[], fold: false, check: Check::Home },
    shape("user name", &["/home/", "/Users/"], paths::in_home),
    folded("user name", &["\\users\\"], Check::Shape(paths::in_home)),
    shape("user name", &["-home-", "-Users-"], paths::in_folder),
    Rule { name: "user name", triggers: &[], fold: false, check: Check::User },
];

/// Whether a secret with a shape of its own stands here, perhaps behind a number.
pub(super) fn token_at(spot: TriggerSpot<'_>, at: usize) -> bool {
    let digits = spot.run(at, 10, |byte| byte.is_ascii_digit());
    RULES.iter().any(|rule| stands(rule, spot, at) || digits > at && stands(rule, spot, digits))
}

// Named rules do not count here: two of them would defer to each other for ever.
fn stands(rule: &Rule, spot: TriggerSpot<'_>, at: usize) -> bool {
    let rest = spot.text.get(at..).unwrap_or_default();
    let Some(trigger) = rule.triggers.iter().find(|trigger| rest.starts_with(trigger.as_bytes())) else { return false };
    let spot = TriggerSpot { at, end: at + trigger.len(), ..spot };
    match rule.check {
        Check::Token(token) => token.take(spot).is_some(),
        Check::Shape(shape) if !rule.fold => shape(spot).is_some(),
        _ => false,
    }
}

/// A token of at least so many characters.
const fn long(name: &'static str, triggers: &'static [&'static str], letters: Letters, least: usize) -> Rule {
    sized(name, triggers, letters, least, LONGEST)
}

/// A token of bounded length that no further character may follow.
const fn sized(name: &'static str, triggers: &'static [&'static str], letters: Letters, least: usize, most: usize) -> Rule {
    Rule { name, triggers, fold: false, check: Check::Token(Token { letters, least, most, named: false }) }
}

const fn shape(name: &'static str, triggers: &'static [&'static str], shape: fn(TriggerSpot<'_>) -> Option<Take>) -> Rule {
    Rule { name, triggers, fold: false, check: Check::Shape(shape) }
}

const fn folded(name: &'static str, triggers: &'static [&'static str], check: Check) -> Rule {
    Rule { name, triggers, fold: true, check }
}

impl Rule {
    /// Keeps the trigger, because it names the token and is not part of it.
    const fn named(mut self) -> Rule {
        if let Check::Token(token) = &mut self.check {
            token.named = true;
        }
        self
    }
}
