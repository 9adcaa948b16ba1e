//! Checkouts: sessions in worktrees belong to the project of their repository's own checkout, wherever that lies.
//!
//! The path of a worktree may not say where the checkout lies; then another session shows it, one that ran there and has the same name of
//! the repository. If sessions ran in several directories with that name, nothing says which of them a worktree belongs to: then it
//! stays with its stand-in. So the answer depends on the set of sessions and never on their order.

use super::sessions::shorten;
use crate::Map;

/// The directory that a session belongs to, as its own sources have it.
#[derive(Clone, Debug, Default, Hash, PartialEq, Eq)]
pub struct SessionPlace {
    /// The directory.
    pub project: Option<Box<str>>,
    /// A name that the checkout of a repository shares with its worktrees elsewhere.
    pub repository: Option<Box<str>>,
    /// Whether `project` only stands in for the checkout.
    pub stand_in: bool,
}

/// For each name of a repository its checkout; `None` where there are several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkouts(Map<Box<str>, Option<Box<str>>>);

impl Checkouts {
    /// The checkouts that sessions ran in.
    pub fn of<'p>(places: impl IntoIterator<Item = &'p SessionPlace>) -> Self {
        let mut all: Map<Box<str>, Option<Box<str>>> = Map::default();
        for place in places.into_iter().filter(|place| !place.stand_in) {
            let (Some(repository), Some(directory)) = (&place.repository, &place.project) else { continue };
            let known = all.entry(repository.clone()).or_insert_with(|| Some(directory.clone()));
            if known.as_ref().is_some_and(|known| known != directory) {
                *known = None;
            }
        }
        Checkouts(all)
    }

    /// The project of a session: the checkout, where its own directory only stands in for that.
    pub fn project<'p>(&'p self, place: &'p SessionPlace) -> Option<&'p str> {
        let checkout = || self.0.get(place.repository.as_ref()?)?.as_deref();
        checkout().filter(|_| place.stand_in).or(place.project.as_deref())
    }
}

/// The short names of sessions, by agent and id.
pub type Shorts = Map<SessionKey, Box<str>>;

/// Agent and id of a session.
pub type SessionKey = (&'static str, Box<str>);

/// Names of sessions that depend on all others: a bundle that is linked alone is given them.
#[derive(Clone, Debug, Default)]
pub struct SessionNames {
    /// Their short names.
    pub shorts: Shorts,
    /// The checkouts that worktrees belong to.
    pub checkouts: Checkouts,
}

impl SessionNames {
    /// The names of these sessions, none of which is repeated.
    pub fn among<'p>(sessions: impl Iterator<Item = (&'p SessionKey, &'p SessionPlace)> + Clone) -> Self {
        let shorts = shorten(&sessions.clone().map(|((_, id), _)| &**id).collect::<Vec<_>>());
        let shorts = sessions.clone().map(|(key, _)| key.clone()).zip(shorts).collect();
        SessionNames { shorts, checkouts: Checkouts::of(sessions.map(|(_, place)| place)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(project: &str, repository: Option<&str>, stand_in: bool) -> SessionPlace {
        SessionPlace { project: Some(project.into()), repository: repository.map(Box::from), stand_in }
    }

    #[test]
    fn a_worktree_belongs_to_the_only_checkout() {
        let worktree = place("/w/acme/app", Some("acme/app:app"), true);
        let nameless = place("/w/app", None, true);
        let app = place("/src/app", Some("acme/app:app"), false);
        let other = place("/old/app", Some("acme/app:app"), false);
        let unlike = place("/src/api", Some("acme/api:api"), false);
        for (places, wanted) in [
            (vec![&worktree, &unlike], "/w/acme/app"),
            (vec![&worktree, &app, &unlike], "/src/app"),
            (vec![&app, &app, &worktree], "/src/app"),
            (vec![&app, &other, &worktree], "/w/acme/app"),
            (vec![&other, &app, &app, &worktree], "/w/acme/app"),
        ] {
            let checkouts = Checkouts::of(places.iter().copied());
            assert_eq!(checkouts.project(&worktree), Some(wanted), "{places:?}");
            assert_eq!(Checkouts::of(places.iter().rev().copied()), checkouts);
            assert_eq!(checkouts.project(&nameless), Some("/w/app"));
            assert_eq!(checkouts.project(&other), Some("/old/app"), "a checkout is never moved");
        }
    }
}
