//! Who may ask: the rule of a server, the user at the other end of a connection, and the credentials of everybody else.
//!
//! `sockets` finds the user of a connection, `secret` makes and compares secrets, `codes` keeps the codes that open a browser.
//! How requests carry credentials, and what a refusal says, is decided in `guard`.

pub(crate) mod codes;
pub(crate) mod secret;
pub(crate) mod sockets;

use codes::OneTimeCodes;
use secret::Secret;
use std::net::SocketAddr;

/// Rule that decides who is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The owner of the server: recognised by the user of the connection where the system tells it, else by a credential.
    Owner,
    /// Everybody with a credential: for addresses that other machines can reach.
    Credential,
    /// Everybody who can reach the server.
    Anybody,
}

/// User at the other end of a connection, compared with the owner of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The owner.
    Owner,
    /// Another user of this machine.
    Other,
    /// Not known: the system does not tell it, or the user says nothing about who asks.
    Unknown,
}

/// The superuser, whose processes pass connections of other users on: forwarders of ports, proxies of containers.
const ROOT: u32 = 0;
/// User number that Linux shows for every user that a namespace does not know.
const OVERFLOW: u32 = 65534;

/// The rule of a server with its secrets, which exist in memory only.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) admission: Admission,
    /// User number of the owner, where connections have one.
    owner: Option<u32>,
    /// Secret of the cookie, given for a one-time code.
    pub(crate) cookie: Secret,
    /// Secret that programs send.
    pub(crate) token: Secret,
    pub(crate) codes: OneTimeCodes,
}

impl Access {
    pub(crate) fn new(admission: Admission, owner: Option<u32>) -> Result<Self, getrandom::Error> {
        // An owner with this number cannot be told from users of other namespaces.
        let owner = owner.filter(|user| *user != OVERFLOW && admission == Admission::Owner);
        Ok(Access { admission, owner, cookie: Secret::new()?, token: Secret::new()?, codes: OneTimeCodes::default() })
    }

    /// Whether users of connections are looked up at all.
    pub(crate) fn looks_up(&self) -> bool {
        self.owner.is_some()
    }

    /// The user at the other end of a connection. Reads the system's tables of sockets.
    pub(crate) fn peer(&self, client: SocketAddr, server: SocketAddr) -> Peer {
        self.owner.map_or(Peer::Unknown, |owner| sockets::owner(client, server).map_or(Peer::Unknown, |user| judge(user, owner)))
    }
}

/// Compares the user of a connection with the owner.
fn judge(found: sockets::SocketOwner, owner: u32) -> Peer {
    match found.user {
        user if user == owner && found.established => Peer::Owner,
        // The system also shows root for sockets that belong to no process any more.
        user if user == owner || user == ROOT => Peer::Unknown,
        // Also where the connection is half closed: that must not turn another user into an unknown one.
        _ => Peer::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sockets::SocketOwner;

    #[test]
    fn only_the_owner_of_an_open_connection_is_the_owner() {
        let said = |user, established, owner| judge(SocketOwner { user, established }, owner);
        assert_eq!(said(1000, true, 1000), Peer::Owner);
        assert_eq!(said(1000, false, 1000), Peer::Unknown);
        assert_eq!(said(0, true, 0), Peer::Owner);
        assert_eq!(said(0, false, 0), Peer::Unknown);
        // Root can read the logs, but what asks with its number may ask for somebody else.
        assert_eq!(said(0, true, 1000), Peer::Unknown);
        for established in [true, false] {
            assert_eq!(said(1001, established, 1000), Peer::Other);
            assert_eq!(said(1001, established, 0), Peer::Other);
            assert_eq!(said(OVERFLOW, established, 1000), Peer::Other);
        }
    }

    #[test]
    fn a_number_that_many_users_share_is_no_owner() {
        let looks_up = |admission, owner| Access::new(admission, owner).unwrap().looks_up();
        assert!(looks_up(Admission::Owner, Some(1000)) && looks_up(Admission::Owner, Some(0)));
        assert!(!looks_up(Admission::Owner, Some(OVERFLOW)) && !looks_up(Admission::Owner, None));
        assert!(!looks_up(Admission::Credential, Some(1000)) && !looks_up(Admission::Anybody, Some(1000)));
    }
}
