//! Passwords passed to programs by a short option: `curl -u jane:…`, `mysql -p…`, `sshpass -p …`. The meaning of such an
//! option depends on the program, so the command before the option is searched for its name.

use crate::headers;
use crate::spot::{Take, TriggerSpot};
use crate::url::stands_in;
use crate::values::{common, mixed, placeholder};

/// Bytes before the option that are searched for the program's name.
const COMMAND: usize = 512;
/// Words of a command among which its program is.
const WORDS: usize = 24;
/// The longest password.
const LONGEST: usize = 256;

/// How the value follows its option.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// `-pVALUE`.
    Joined,
    /// `-p VALUE`.
    Apart,
    /// Either.
    Both,
    /// `-p VALUE`, which such programs do not take, but people write; only where no word looks like it.
    Mistaken,
}

/// An option of some programs whose value is a password, or has one behind this sign.
struct PasswordOption {
    option: &'static str,
    style: Style,
    /// What stands between a name and the password: `name:password`.
    behind: Option<u8>,
    programs: &'static str,
    /// A word that must be in the command too: `docker login`.
    with: Option<&'static str>,
}

const fn option(option: &'static str, style: Style, programs: &'static str) -> PasswordOption {
    PasswordOption { option, style, behind: None, programs, with: None }
}

const fn pair(option: &'static str, behind: u8, programs: &'static str) -> PasswordOption {
    PasswordOption { option, style: Style::Both, behind: Some(behind), programs, with: None }
}

const MYSQL: &str =
    "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlpump mysqlcheck mariadb mariadb-dump mariadb-admin mariadb-import mycli";
const LDAP: &str = "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapmodrdn ldapcompare";
const SNMP: &str = "snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmpgetnext snmptrap";

/// All of these options.
const OPTIONS: &[PasswordOption] = &[
    option("-p", Style::Joined, MYSQL),
    option("-p", Style::Mistaken, MYSQL),
    option("-p", Style::Joined, "7z 7za 7zr 7zz rar unrar"),
    option("-p", Style::Both, "sshpass mongosh mongo mongodump mongorestore mongoimport mongoexport mongostat mongotop mongofiles"),
    PasswordOption {
        option: "-p",
        style: Style::Both,
        behind: None,
        programs: "docker podman nerdctl helm oras buildah skopeo crane az oc ibmcloud cf databricks",
        with: Some("login"),
    },
    option(
        "-p",
        Style::Apart,
        "cqlsh beeline evil-winrm nxc netexec crackmapexec hydra smbmap psexec psexec64 useradd usermod xfreerdp iscsiadm sqlplus",
    ),
    option("-P", Style::Both, "sqlcmd bcp osql isql tsql sqsh ipmitool zip unzip"),
    option("-a", Style::Both, "redis-cli valkey-cli keydb-cli"),
    option("-w", Style::Both, LDAP),
    option("-s", Style::Apart, "ldappasswd"),
    option("-c", Style::Apart, SNMP),
    option("-A", Style::Apart, SNMP),
    option("-X", Style::Apart, SNMP),
    option("-pw", Style::Apart, "plink pscp psftp putty kitty"),
    option("-N", Style::Apart, "ssh-keygen"),
    option("-k", Style::Apart, "openssl"),
    option("-K", Style::Apart, "openssl"),
    pair("-u", b':', "curl"),
    pair("--user", b':', "curl"),
    pair("--proxy-user", b':', "curl"),
    pair("-U", b':', "curl"),
    pair("-a", b':', "http https xh xhs httpie"),
    pair("--auth", b':', "http https xh xhs httpie"),
    pair("-A", b':', "ab siege"),
    pair("-u", b',', "lftp"),
    pair("-U", b'%', "smbclient rpcclient net winexe smbget smbcacls pth-winexe"),
    pair("--creds", b':', "skopeo podman buildah oras"),
    pair("--src-creds", b':', "skopeo"),
    pair("--dest-creds", b':', "skopeo"),
];

/// A password behind one of these options; the trigger is the option and the blank before it.
pub(crate) fn password(spot: TriggerSpot<'_>) -> Option<Take> {
    if !matches!(spot.byte(spot.at), Some(b' ' | b'\t' | b'\n')) {
        return None;
    }
    OPTIONS.iter().find_map(|option| option.take(spot))
}

impl PasswordOption {
    fn take(&self, spot: TriggerSpot<'_>) -> Option<Take> {
        let end = spot.at + 1 + self.option.len();
        if spot.bytes(spot.at + 1, end) != self.option.as_bytes() {
            return None;
        }
        let long = self.option.starts_with("--");
        let blank = spot.run(end, 3, |byte| byte == b' ' || long && byte == b'=');
        let apart = blank > end;
        let fits = match self.style {
            Style::Joined => !apart,
            Style::Apart | Style::Mistaken => apart,
            Style::Both => apart || !long,
        };
        let (mut from, to) = word(spot, blank);
        if let Some(sign) = self.behind {
            let info = spot.bytes(from, to);
            let at = info.iter().position(|byte| *byte == sign)?;
            // `docker run -u 1000:1000` and the like are ids, not names.
            let ids = info.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
            if ids || stands_in(&info[..at], &info[at + 1..]) {
                return None;
            }
            from += at + 1;
        }
        let value = spot.bytes(from, to);
        // `docker run -p 8080:80` is about ports.
        let port = apart && self.behind.is_none() && value.len() <= 5 && value.iter().all(u8::is_ascii_digit)
            || value.contains(&b':') && !mixed(value);
        let other = port || value.starts_with(b"-") || placeholder(value, false) || self.behind.is_none() && value.len() < 3;
        let telling = self.style != Style::Mistaken || mixed(value) && value.len() >= 7;
        let known = self.behind.is_none() && common(value) && (apart || self.option != "-p");
        let here = fits && !value.is_empty() && !other && telling && !known && runs(spot, self.programs);
        (here && self.with.is_none_or(|with| runs(spot, with))).then(|| Take::named("password", from, to))
    }
}

/// `curl -b name=value`, `--cookie name=value`.
pub(crate) fn cookie(spot: TriggerSpot<'_>, out: &mut Vec<Take>) {
    let from = spot.run(spot.end, 24, |byte| matches!(byte, b' ' | b'=' | b'"' | b'\'' | b'\\'));
    if from > spot.end && runs(spot, "curl http https wget xh") {
        headers::pairs(spot, from, out);
    }
}

/// Start and end of a word of a command, without its quotes.
pub(crate) fn word(spot: TriggerSpot<'_>, from: usize) -> (usize, usize) {
    let from = spot.run(from, 20, |byte| byte == b'\\');
    let quote = spot.byte(from).filter(|byte| matches!(byte, b'"' | b'\''));
    let from = from + usize::from(quote.is_some());
    let stop = |byte: u8| match quote {
        Some(quote) => byte == quote || byte == b'\\' || byte < b' ',
        None => byte <= b' ' || b"\"'`\\;|&<>()".contains(&byte),
    };
    (from, spot.run(from, LONGEST, |byte| !stop(byte)))
}

/// Where the next word begins behind the one that ends here.
pub(crate) fn after_word(spot: TriggerSpot<'_>, to: usize) -> usize {
    let quotes = spot.run(to, 24, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
    spot.run(quotes, 8, |byte| byte == b' ' || byte == b'\t')
}

/// Whether one of these programs stands in the command that the option belongs to.
pub(crate) fn runs(spot: TriggerSpot<'_>, programs: &str) -> bool {
    let before = spot.before(spot.at, COMMAND);
    // Operators of the shell end a command: a program before them has other options.
    let ends = |at: usize| match before.get(at) {
        Some(b'|' | b';' | b'&') => true,
        // A backslash takes the command on to the next line.
        Some(b'\n') => at == 0 || before.get(at - 1) != Some(&b'\\'),
        _ => false,
    };
    let begin = (0..before.len()).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    // Split at slashes too, so that `/usr/bin/mysql` is found; a line break that is written out leaves its letter.
    let names = before[begin..].split(|byte| *byte <= b' ' || b"\"'`()$\\/".contains(byte)).filter(|name| !name.is_empty());
    // The program stands among the first words.
    names.take(WORDS).any(|name| {
        let name = name.strip_suffix(b".exe").unwrap_or(name);
        // The sign of a patch.
        let name = name.strip_prefix(b"+").or_else(|| name.strip_prefix(b"-")).unwrap_or(name);
        programs.split_ascii_whitespace().any(|program| program.as_bytes() == name || name.strip_prefix(b"n") == Some(program.as_bytes()))
    })
}
