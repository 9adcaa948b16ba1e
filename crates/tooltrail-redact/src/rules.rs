//! The list of redaction rules. A new kind of secret is one line here, and one in the generator of `tooltrail-testkit`.
//!
//! Where several rules have a trigger at the same position, the first that applies wins. Rules of one name are counted together. Prefixes,
//! alphabets and lengths of providers' tokens follow the rule set of gitleaks.

use crate::spot::{Replacement, Take, TriggerSpot};
use crate::tokens::{self, Letters, Token};
use crate::value::LONGEST;
use crate::{address, calls, commands, headers, keys, paths, url};

/// One kind of secret: its name, where to look for it, and how to recognise it.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Name of the kind, in words. The label that replaces the secret has it with dashes.
    pub(crate) name: &'static str,
    /// Texts at which the rule looks. ASCII only.
    pub(crate) triggers: &'static [&'static str],
    /// Whether case is ignored in triggers.
    pub(crate) fold: bool,
    /// Test that decides at a trigger.
    pub(crate) check: Check,
}

/// Test that recognises a secret.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// Characters that follow the trigger.
    Token(Token),
    /// The name of the value, which contains the trigger.
    Named,
    /// A shape of its own.
    Shape(fn(TriggerSpot<'_>) -> Option<Take>),
    /// Several values behind one trigger.
    Several(fn(TriggerSpot<'_>, &mut Vec<Take>)),
    /// A private key of Bitcoin, whose triggers are pairs of letters.
    Wif,
    /// The home directory that the redactor was given.
    Home,
    /// The user name that the redactor was given.
    User,
}

use Letters::{Dotted, Hex, Path, Plain, Upper, Url};

/// The kind of e-mail addresses, which identify a person and open nothing.
pub(crate) const EMAIL: &str = "e-mail address";

/// The kind of a wallet's seed phrase, which is found by its words.
pub(crate) const MNEMONIC: &str = "seed phrase";

/// All rules.
pub(crate) const RULES: &[Rule] = &[
    // Specific prefixes before general ones: the first rule that matches names the secret.
    // Keys of models.
    long("anthropic key", &["sk-ant-"], Url, 16),
    long("openai key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Url, 20),
    long("api key", &["sk-or-v1-", "sk-lf-", "pplx-", "tvly-", "fw_", "jina_", "sk-cp-", "nvapi-", "voy-", "csk-"], Url, 28),
    long("groq key", &["gsk_"], Plain, 40),
    long("xai key", &["xai-"], Plain, 40),
    sized("replicate token", &["r8_"], Plain, 37, 40),
    sized("hugging face token", &["hf_", "api_org_"], Plain, 30, 40),
    long("langsmith key", &["lsv2_pt_", "lsv2_sk_"], Url, 32),
    long("pinecone key", &["pcsk_"], Url, 40),
    shape("api key", &["sk-"], tokens::secret_key),
    // Clouds.
    sized("aws access key id", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, 16, 16),
    long("aws bedrock key", &["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"], Path, 20),
    sized("alibaba access key", &["LTAI"], Plain, 16, 26),
    sized("tencent secret id", &["AKID"], Plain, 32, 36),
    sized("google api key", &["AIza"], Url, 35, 35),
    long("google oauth token", &["ya29."], Dotted, 20),
    sized("google client secret", &["GOCSPX-"], Url, 24, 32),
    long("google refresh token", &["1//0"], Url, 30),
    long("azure key", &["AccountKey=", "SharedAccessKey=", "accountkey="], Path, 40).named(),
    shape("azure client secret", &["Q~"], tokens::azure_secret),
    sized("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 32, 64),
    sized("databricks token", &["dapi"], Hex, 32, 32),
    long("vault token", &["hvs.", "hvb.", "hvr."], Url, 24),
    sized("vault token", &["s."], Plain, 24, 24),
    shape("terraform token", &[".atlasv1."], tokens::terraform),
    long("vercel token", &["vercel_blob_rw_", "vcp_", "vci_", "vca_", "vcr_", "vck_"], Url, 24),
    long("netlify token", &["nfp_", "nfc_", "nfo_", "nfu_"], Url, 30),
    long("fly token", &["FlyV1 fm", "fm1r_", "fm1a_", "fm2_", "fo1_"], Path, 40),
    long("supabase key", &["sbp_", "sb_secret_"], Url, 20),
    long("planetscale token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 30),
    long("doppler token", &["dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim.", "dp.audit."], Dotted, 40),
    long("heroku key", &["HRKU-"], Url, 30),
    shape("cloudflare key", &["v1.0-"], tokens::cloudflare),
    long("cloudflare token", &["cfut_", "cfat_", "cfk_"], Url, 40),
    long("pulumi token", &["pul-"], Hex, 40),
    long("scalingo token", &["tk-us-"], Url, 48),
    long("render key", &["rnd_"], Plain, 28),
    long("railway token", &["rw_Fe26.2"], Path, 40),
    long("neon key", &["napi_"], Plain, 40),
    long("turso token", &["libsql_"], Url, 40),
    long("openshift token", &["sha256~"], Url, 43),
    long("clickhouse key", &["4b1d"], Plain, 38).exactly(38),
    long("infracost key", &["ico-"], Plain, 32).exactly(32),
    // Forges and registries.
    long("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Plain, 30),
    long("github token", &["github_pat_"], Url, 22),
    long(
        "gitlab token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glffct-",
            "glimt-",
            "gloas-",
            "glsoat-",
            "glagent-",
            "glwt-",
            "GR1348941",
        ],
        Dotted,
        20,
    ),
    long("gitlab session", &["_gitlab_session="], Plain, 32).named(),
    sized("npm token", &["npm_"], Plain, 36, 36),
    long("pypi token", &["pypi-AgEI", "pypi-AgEN"], Url, 20),
    sized("crates.io token", &["cio"], Plain, 32, 32),
    sized("rubygems key", &["rubygems_"], Hex, 48, 48),
    sized("nuget key", &["oy2"], Plain, 43, 43),
    long("docker token", &["dckr_pat_", "dckr_oat_"], Url, 20),
    long("clojars token", &["CLOJARS_"], Plain, 60),
    sized("artifactory key", &["AKCp"], Plain, 69, 69),
    sized("artifactory token", &["cmVmd"], Plain, 59, 59),
    long("sourcegraph token", &["sgp_"], Url, 40),
    long("bitbucket token", &["ATBB"], Plain, 28).exactly(40),
    // Services.
    long("slack token", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xox", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], Path, 20),
    long("slack webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], Path, 20).named(),
    long("discord webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Path, 30).named(),
    long("teams webhook", &[".webhook.office.com/webhookb2/"], Path, 40).named(),
    shape("discord token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"], tokens::discord),
    shape("telegram token", &[":A"], tokens::telegram),
    long("stripe key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_", "sk_org_"], Plain, 10),
    long("stripe webhook secret", &["whsec_"], Path, 24),
    long("shopify token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], Hex, 32),
    long("square token", &["sq0atp-", "sq0csp-", "sq0idp-"], Url, 22),
    sized("square token", &["EAAA"], Url, 22, 60),
    sized("facebook token", &["EAAC", "EAAM"], Plain, 90, 512),
    shape("sendgrid key", &["SG."], tokens::sendgrid),
    long("sendinblue key", &["xkeysib-", "xsmtpsib-"], Url, 60),
    sized("twilio key", &["SK"], Hex, 32, 32),
    sized("mailgun key", &["key-"], Hex, 32, 32),
    shape("mailchimp key", &["-us"], tokens::mailchimp),
    long("sentry token", &["sntrys_", "sntryu_"], Path, 30),
    long("linear key", &["lin_api_", "lin_oauth_"], Plain, 30),
    sized("notion token", &["secret_"], Plain, 43, 43),
    sized("notion token", &["ntn_"], Plain, 40, 50),
    long("airtable token", &["pat"], Dotted, 70).exactly(90),
    long("figma token", &["figd_", "figo_"], Url, 30),
    long("postman key", &["PMAK-"], Url, 30),
    long("new relic key", &["NRAK-", "NRII-", "NRJS-", "NRRA-"], Url, 19),
    long("grafana token", &["glsa_"], Path, 30),
    // Base64, which has no underscores: `glc_code_quality_settings` is a name.
    long("grafana token", &["glc_"], Plain, 30),
    long("grafana key", &["eyJrIjoi"], Path, 60),
    long("atlassian token", &["ATATT3", "ATCTT3", "ATOAIT"], Path, 40),
    shape("dynatrace token", &["dt0c01.", "dt0s01."], tokens::dynatrace),
    shape("harness token", &["pat.", "sat."], tokens::harness),
    shape("1password key", &["A3-"], tokens::one_password),
    long("1password token", &["ops_eyJ"], Path, 40),
    shape("mapbox token", &["sk.eyJ"], tokens::mapbox),
    shape("maxmind key", &["_mmk"], tokens::maxmind),
    shape("okta token", &["SSWS 00"], tokens::okta),
    sized("easypost key", &["EZAK", "EZTK"], Plain, 54, 54),
    long("duffel token", &["duffel_test_", "duffel_live_"], Url, 40),
    long("flutterwave key", &["FLWSECK_TEST-", "FLWSECK-"], Url, 12),
    long("shippo token", &["shippo_live_", "shippo_test_"], Hex, 40),
    long("readme key", &["rdme_"], Plain, 60),
    long("typeform token", &["tfp_"], Dotted, 40),
    sized("prefect token", &["pnu_", "pnb_"], Plain, 36, 36),
    long("settlemint token", &["sm_aat_", "sm_pat_", "sm_sat_"], Plain, 16),
    long("frame.io token", &["fio-u-"], Url, 60),
    long("adobe secret", &["p8e-", "p8-"], Plain, 32).exactly(40),
    sized("octopus key", &["API-"], Upper, 25, 32),
    long("plaid token", &["access-sandbox-", "access-development-", "access-production-"], Url, 36),
    long("contentful token", &["CFPAT-"], Url, 40),
    long("buildkite token", &["bkua_", "bkct_"], Plain, 40),
    long("circleci token", &["CCIPAT_", "CCIPRJ_"], Url, 40),
    long("intra42 secret", &["s-s4t2ud-", "s-s4t2af-"], Hex, 64),
    long("dropbox token", &["sl.B", "sl.u."], Url, 60),
    long("asana token", &["1/1"], Plain, 60).exactly(70),
    sized("tailscale key", &["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"], Url, 20, 80),
    long("ngrok token", &["ngrok_"], Plain, 40),
    long("posthog key", &["phx_", "phs_"], Plain, 40),
    long("resend key", &["re_"], Url, 30).exactly(36),
    long("clerk key", &["sk_clerk_"], Plain, 30),
    long("todoist token", &["tdist_"], Plain, 40),
    long("mistral agent key", &["ag:"], Url, 80),
    long("yandex key", &["AQVN"], Url, 35).exactly(38),
    long("age key", &["AGE-SECRET-KEY-1", "AGE-PLUGIN-"], Upper, 40),
    long("wallet key", &["xprv", "zprv", "yprv", "tprv"], Plain, 90),
    Rule { name: "wallet key", triggers: &[], fold: false, check: Check::Wif },
    // Credentials that contain or sign others.
    shape("private key", &["-----BEGIN "], keys::private_key),
    shape("private key", &["-----END "], keys::key_tail),
    shape("private key", &["Private-Lines:"], keys::putty),
    long("private key", &["Private-MAC: "], Hex, 40).named(),
    shape(
        "password hash",
        &[
            "$1$",
            "$2a$",
            "$2b$",
            "$2y$",
            "$5$",
            "$6$",
            "$7$",
            "$y$",
            "$gy$",
            "$argon2",
            "$apr1$",
            "$scrypt$",
            "$pbkdf2",
            "pbkdf2_sha",
            "pbkdf2:",
            "$P$",
            "$H$",
            "$S$",
            "{SSHA",
            "{SHA",
            "{CRYPT",
            "{PBKDF2",
            "scrypt:",
            "SCRAM-SHA-256$",
        ],
        tokens::hash,
    ),
    shape("password hash", &["aad3b435b51404ee"], tokens::ntlm),
    shape("json web token", &["eyJ"], tokens::jwt),
    shape("password", &[":5432:", ":5433:", ":6432:", ":5434:", ":*:"], tokens::pgpass),
    folded("bearer token", &["bearer"], Check::Shape(headers::bearer)),
    folded("basic credentials", &["basic", "auth"], Check::Shape(headers::basic)),
    folded("cookie", &["cookie"], Check::Several(headers::cookies)),
    long("signature", &["X-Amz-Signature=", "X-Amz-Security-Token=", "X-Goog-Signature=", "&Signature=", "?Signature="], Path, 20).named(),
    long("signature", &["?sig=", "&sig=", "&amp;sig=", "Signature=", "SharedAccessSignature sr="], Path, 20).named(),
    shape("password in url", &["://"], url::userinfo),
    Rule { name: "cookie", triggers: &[" -b", " --cookie"], fold: false, check: Check::Several(commands::cookie) },
    shape(
        "password",
        &[
            " -p",
            " -P",
            " -a",
            " -w",
            " -s ",
            " -c ",
            " -A",
            " -X ",
            " -k ",
            " -K ",
            " -u",
            " -U",
            " -N ",
            " --user",
            " --proxy-user",
            " --auth",
            " --creds",
            " --src-creds",
            " --dest-creds",
        ],
        commands::password,
    ),
    shape("password", &["htpasswd"], calls::htpasswd),
    shape(
        "password",
        &["sudo", "chpasswd", "-stdin", "--with-token", "passphrase-fd", "smbpasswd", "cryptsetup", "kinit", "cargo login"],
        calls::piped,
    ),
    folded(
        "password",
        &[
            "vault login",
            "cargo login",
            "wpa_pass",
            "rabbitmqctl ",
            "net use",
            "net user",
            "mc alias",
            "mc config",
            "convertto-sec",
            "identified ",
        ],
        Check::Shape(calls::argument),
    ),
    shape("password", &["pass:"], calls::openssl),
    shape("secret", &["--from-literal"], calls::literal),
    shape("secret", &["secret set "], calls::body),
    shape("password", &["sqlplus ", "expdp ", "impdp ", "sqlldr "], calls::oracle),
    shape("password", &["send "], calls::sent),
    folded("password", &["auth(", "auth=(", "login(", "credential(", "credentials(", "authentication("], Check::Shape(calls::second)),
    // Recognised by name only.
    folded(
        "password",
        &["pass", "pwd", "wort", "psk", "bindpw", "rootpw", "dbpw", "userpw", "adminpw", "_pw", "-pw", "senha"],
        Check::Named,
    ),
    folded("secret", &["secret", "cred", "_salt", "sessid", "jsessionid", "authorization", "_auth"], Check::Named),
    folded("key", &["key"], Check::Named),
    folded("token", &["token"], Check::Named),
    // People.
    shape(EMAIL, &["@", "%40"], address::email),
    Rule { name: "home directory", triggers: &[], fold: false, check: Check::Home },
    shape("user name", &["/home/", "/Users/"], paths::in_home),
    folded("user name", &["\\users\\"], Check::Shape(paths::in_home)),
    shape("user name", &["-home-", "-Users-"], paths::in_folder),
    Rule { name: "user name", triggers: &[], fold: false, check: Check::User },
];

/// Kinds that are found without a rule of their own, in the order in which they are counted.
pub(crate) const OTHER_KINDS: &[&str] = &["api key", "access key", "private key", "credentials", "authorization", MNEMONIC];

/// A secret with a shape of its own that begins here, perhaps behind a number: its kind and its range.
pub(crate) fn shape_at(spot: TriggerSpot<'_>, at: usize) -> Option<(&'static str, usize, usize)> {
    let digits = spot.run(at, 17, |byte| byte.is_ascii_digit());
    RULES.iter().find_map(|rule| stands(rule, spot, at).or_else(|| (digits > at).then(|| stands(rule, spot, digits))?))
}

// Named rules do not count here: two of them would defer to each other for ever.
fn stands(rule: &Rule, spot: TriggerSpot<'_>, at: usize) -> Option<(&'static str, usize, usize)> {
    let rest = spot.text.get(at..).unwrap_or_default();
    let trigger = rule.triggers.iter().find(|trigger| rest.starts_with(trigger.as_bytes()))?;
    let spot = TriggerSpot { at, end: at + trigger.len(), ..spot };
    let take = match rule.check {
        Check::Token(token) if !token.named => token.take(spot),
        Check::Shape(shape) if !rule.fold && rule.name != "password" && rule.name != EMAIL => shape(spot),
        _ => None,
    }?;
    // A number before the trigger is part of the secret only where the rule says so.
    matches!(take.by, Replacement::Label(None)).then_some((rule.name, take.from, take.to))
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

    /// Takes no more than so many characters, because the trigger is short.
    const fn exactly(mut self, most: usize) -> Rule {
        if let Check::Token(token) = &mut self.check {
            token.most = most;
        }
        self
    }
}
