//! The user of a connection on this machine, from Linux' tables of sockets.
//!
//! A connection within a machine has two sockets, and both are listed. The one whose own address is the client's belongs to the
//! process that asks. Other systems have no such tables, and nothing is found there.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The tables. Programs that speak IPv6 list their connections to IPv4 addresses in the second one.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Number of times that the tables are read: a row can be missed while others come and go.
const ATTEMPTS: usize = 2;
/// Limits on a line and on a table. A row has some 150 bytes.
const LINE: u64 = 512;
const TABLE: u64 = 64 * 1024 * 1024;
/// State of a socket whose connection is open in both directions.
const ESTABLISHED: u8 = 1;

/// The user that a socket belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketOwner {
    /// User number.
    pub(crate) user: u32,
    /// Whether the connection is open in both directions.
    pub(crate) established: bool,
}

/// The user of a connection's client; `None` if it is not on this machine, or cannot be found.
pub(crate) fn owner(client: SocketAddr, server: SocketAddr) -> Option<SocketOwner> {
    if !client.ip().to_canonical().is_loopback() {
        return None;
    }
    let in_table = |path: &&str| find(BufReader::new(File::open(path).ok()?), client, server);
    (0..ATTEMPTS).find_map(|_| TABLES.iter().find_map(in_table))
}

/// Finds the client's socket in a table.
fn find(table: impl BufRead, client: SocketAddr, server: SocketAddr) -> Option<SocketOwner> {
    let (client, server) = (canonical(client), canonical(server));
    let (mut table, mut line) = (table.take(TABLE), Vec::new());
    let mut found = None;
    loop {
        line.clear();
        // The limit keeps a line without an end out of memory; what is cut is no row.
        let read = Read::by_ref(&mut table).take(LINE).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return found;
        }
        let Some(row) = std::str::from_utf8(&line).ok().and_then(row) else { continue };
        if (row.local, row.remote) == (client, server) {
            found = Some(row.owner);
            // Only one connection can be established between two ports, and the rest of the table may be long. A row that is not may
            // be what is left of an earlier connection.
            if row.owner.established {
                return found;
            }
        }
    }
}

/// A row of a table.
struct SocketRow {
    local: SocketAddr,
    remote: SocketAddr,
    owner: SocketOwner,
}

/// Reads a row: number, own and other address, state, queues, timer, retransmissions, user.
fn row(line: &str) -> Option<SocketRow> {
    let mut fields = line.split_ascii_whitespace();
    // The head of the table has no number.
    fields.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
    let (local, remote) = (address(fields.next()?)?, address(fields.next()?)?);
    let state = u8::from_str_radix(digits(fields.next()?, 2)?, 16).ok()?;
    let user = fields.nth(3)?.parse().ok()?;
    Some(SocketRow { local, remote, owner: SocketOwner { user, established: state == ESTABLISHED } })
}

/// Reads an address: `0100007F:1D08` is 127.0.0.1 port 7432 on a little-endian machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(digits(port, 4)?, 16).ok()?;
    // Addresses are written as words of four bytes, each as the machine's own number.
    let word = |at: usize| Some(u32::from_str_radix(digits(ip.get(at..at + 8)?, 8)?, 16).ok()?.to_ne_bytes());
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

/// A text of exactly so many hexadecimal digits. Rust's own reader takes a sign too.
fn digits(text: &str, count: usize) -> Option<&str> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(text)
}

/// An address in one form: IPv4 addresses inside IPv6 become IPv4, scopes are dropped.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    /// An address as the system writes it.
    fn written(address: &str) -> String {
        let address: SocketAddr = address.parse().unwrap();
        let bytes = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let words = bytes.chunks(4).map(|word| format!("{:08X}", u32::from_ne_bytes(word.try_into().unwrap())));
        format!("{}:{:04X}", words.collect::<String>(), address.port())
    }

    fn line(local: &str, remote: &str, state: &str, user: &str) -> String {
        let (local, remote) = (written(local), written(remote));
        format!(
            "   4: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 {user:>5}        0 40127 1 0000000000000000 20 4 30 10 -1\n"
        )
    }

    fn found(table: &str, client: &str, server: &str) -> Option<(u32, bool)> {
        let found = find(table.as_bytes(), client.parse().unwrap(), server.parse().unwrap());
        found.map(|owner| (owner.user, owner.established))
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_table_is_read_as_the_system_writes_it() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     \n   \
             0: 0100007F:1D08 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0000000000000000 100 0 0 10 0                     \n   \
             1: 0100007F:1D08 0100007F:D2A4 01 00000000:00000000 00:00000000 00000000  1000        0 31340 1 0000000000000000 20 4 30 10 -1                    \n   \
             2: 0100007F:D2A4 0100007F:1D08 01 00000000:00000000 00:00000000 00000000  1001        0 31339 1 0000000000000000 20 4 30 10 -1                    \n";
        assert_eq!(found(table, "127.0.0.1:53924", "127.0.0.1:7432"), Some((1001, true)));
        assert_eq!(found(table, "127.0.0.1:53925", "127.0.0.1:7432"), None);
        let table = "   7: 00000000000000000000000001000000:D2A4 00000000000000000000000001000000:1D08 01 00000000:00000000 00:00000000 00000000  1002        0 5 1\n";
        assert_eq!(found(table, "[::1]:53924", "[::1]:7432"), Some((1002, true)));
        let table = "   7: 0000000000000000FFFF00000100007F:D2A4 0000000000000000FFFF00000100007F:1D08 01 00000000:00000000 00:00000000 00000000  1003        0 5 1\n";
        assert_eq!(found(table, "127.0.0.1:53924", "127.0.0.1:7432"), Some((1003, true)));
    }

    #[test]
    fn both_addresses_and_ports_must_match() {
        let table = [HEAD, &line("127.0.0.1:5000", "127.0.0.1:7432", "01", "7")].concat();
        assert_eq!(found(&table, "127.0.0.1:5000", "127.0.0.1:7432"), Some((7, true)));
        for (client, server) in [
            ("127.0.0.1:5001", "127.0.0.1:7432"),
            ("127.0.0.1:5000", "127.0.0.1:7433"),
            ("127.0.0.2:5000", "127.0.0.1:7432"),
            ("127.0.0.1:5000", "127.0.0.2:7432"),
            ("127.0.0.1:7432", "127.0.0.1:5000"),
            ("[::1]:5000", "[::1]:7432"),
        ] {
            assert_eq!(found(&table, client, server), None, "{client} {server}");
        }
    }

    #[test]
    fn addresses_of_both_families_are_one_where_they_mean_the_same() {
        let mapped = line("[::ffff:127.0.0.1]:5000", "[::ffff:127.0.0.1]:7432", "01", "8");
        assert_eq!(found(&mapped, "127.0.0.1:5000", "127.0.0.1:7432"), Some((8, true)));
        let plain = line("127.0.0.1:5000", "127.0.0.1:7432", "01", "9");
        assert_eq!(found(&plain, "[::ffff:127.0.0.1]:5000", "[::ffff:127.0.0.1]:7432"), Some((9, true)));
        let six = line("[::1]:5000", "[::1]:7432", "01", "10");
        assert_eq!(found(&six, "[::1]:5000", "[::1]:7432"), Some((10, true)));
        assert_eq!(found(&six, "127.0.0.1:5000", "127.0.0.1:7432"), None);
    }

    #[test]
    fn states_other_than_established_are_told_apart() {
        for state in ["02", "03", "04", "05", "06", "08", "0A"] {
            let table = line("127.0.0.1:5000", "127.0.0.1:7432", state, "7");
            assert_eq!(found(&table, "127.0.0.1:5000", "127.0.0.1:7432"), Some((7, false)), "{state}");
        }
        // A connection that has ended may leave a row beside the new one.
        let both = line("127.0.0.1:5000", "127.0.0.1:7432", "05", "7") + &line("127.0.0.1:5000", "127.0.0.1:7432", "01", "7");
        assert_eq!(found(&both, "127.0.0.1:5000", "127.0.0.1:7432"), Some((7, true)));
    }

    #[test]
    fn hostile_tables_give_nothing() {
        let good = line("127.0.0.1:5000", "127.0.0.1:7432", "01", "7");
        let ask = |table: &[u8]| find(table, "127.0.0.1:5000".parse().unwrap(), "127.0.0.1:7432".parse().unwrap());
        let (client, server) = (written("127.0.0.1:5000"), written("127.0.0.1:7432"));
        let rest = "00000000:00000000 00:00000000 00000000";
        for bad in [
            String::new(),
            "\n\n\n".to_owned(),
            "\0".repeat(1000),
            HEAD.to_owned(),
            good[..good.len() / 2].to_owned(),
            good.replace(" 7 ", " -7 "),
            good.replace(" 7 ", " 4294967296 "),
            good.replace(" 7 ", " x "),
            good.replace("4:", "4"),
            good.replace(&client, &format!("+{}", &client[1..])),
            format!("1: {client} {server} 001 {rest} 7 0\n"),
            format!("1: {client} {server} +1 {rest} 7 0\n"),
            format!("1: é{client} {server} 01 {rest} 7 0\n"),
            format!("1: {}é {server} 01 {rest} 7 0\n", &client[..11]),
            format!("1: {client}0 {server} 01 {rest} 7 0\n"),
        ] {
            assert_eq!(ask(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(
            ask(&[b"\xff\xfe 1:\n".as_slice(), good.as_bytes()].concat()).map(|owner| owner.user),
            Some(7),
            "rows after bad ones count"
        );
        let mut long = " ".repeat(3 * 512);
        let _ = write!(long, "{good}");
        assert_eq!(ask(long.as_bytes()).map(|owner| owner.user), Some(7), "a line over the limit does not hide what follows");
        assert_eq!(ask("x".repeat(1 << 20).as_bytes()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_connection_of_this_process_has_its_user() {
        use std::os::unix::fs::MetadataExt;
        let own = std::fs::metadata("/proc/self").unwrap().uid();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may be without IPv6.
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let found = owner(peer, server.local_addr().unwrap());
            assert_eq!(found, Some(SocketOwner { user: own, established: true }), "{address}");
            // Half closed by the client, it is still this user's.
            client.shutdown(std::net::Shutdown::Write).unwrap();
            let found = owner(peer, server.local_addr().unwrap());
            assert_eq!(found, Some(SocketOwner { user: own, established: false }), "{address}");
        }
        assert_eq!(owner("192.0.2.1:5000".parse().unwrap(), "192.0.2.2:7432".parse().unwrap()), None);
    }
}
