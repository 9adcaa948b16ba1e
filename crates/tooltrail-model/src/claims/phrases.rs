//! The phrases that count as a claim, and the words that undo one, separated by commas. Documented in docs/verdict.md.

use super::ClaimSubject;

/// A kind of claim: any of its subjects, then any of its predicates, with only [`FILLERS`] and numbers between them.
pub(super) struct ClaimPhrase {
    /// What it is about.
    pub(super) about: ClaimSubject,
    /// Names of the thing.
    pub(super) subjects: &'static str,
    /// Words that say that it passes.
    pub(super) predicates: &'static str,
}

/// Words that say that something passes.
const PASSES: &str = "pass, passes, passed, passing, green, succeed, succeeds, succeeded, successful";

/// The phrases.
pub(super) const PHRASES: &[ClaimPhrase] = &[
    ClaimPhrase {
        about: ClaimSubject::Test,
        subjects: "
            tests, test suite, suite, test run, specs, cargo test, cargo nextest run, npm test, npm run test,
            pnpm test, yarn test, bun test, pytest, go test ./..., make test, mvn test, gradle test, ./gradlew test,
            mix test, rspec, phpunit, vitest, jest",
        predicates: PASSES,
    },
    ClaimPhrase {
        about: ClaimSubject::Build,
        subjects: "
            build, compilation, cargo build, cargo check, npm run build, pnpm build, pnpm run build, yarn build,
            bun run build, go build ./...",
        predicates: PASSES,
    },
    // Only as verbs: "the build" is a thing of its own above.
    ClaimPhrase { about: ClaimSubject::Build, subjects: "code, project, workspace, everything, it", predicates: "builds, compiles" },
    ClaimPhrase {
        about: ClaimSubject::Lint,
        subjects: "
            lint, linter, linting, lints, clippy, eslint, ruff, mypy, tsc, typecheck, typechecking, type-check,
            type-checking, type check, type checking, cargo clippy, npm run lint, pnpm lint, yarn lint",
        predicates: "pass, passes, passed, passing, green, clean, succeed, succeeds, succeeded, successful",
    },
    // Last, so that anything that names its kind of check is found before.
    ClaimPhrase { about: ClaimSubject::Checks, subjects: "checks, everything", predicates: PASSES },
];

/// Words that may stand between a subject and its predicate.
pub(super) const FILLERS: &str = "
    now, all, still, are, is, have, has, also, again, already, both, successfully, cleanly, fully, continue, to,
    remain, remains, run, total";

/// Words before a subject that mean all of it.
pub(super) const WHOLES: &str = "all, the, every, full, whole, entire, complete, unit, of, our, your, final, project";

/// Words before these that begin a clause.
pub(super) const LINKS: &str = "and, with, that, now, so, but, also, then, both, confirmed, verified, done, fixed";

/// Words behind a predicate that limit it to a part: "passes for one crate".
pub(super) const PARTS: &str = "for, on, in, under, through, at";

/// Words at the beginning of a sentence that move it into the past.
pub(super) const STARTS: &str = "before, previously, earlier, originally";

/// Words that make a statement a condition, a plan or a guess.
pub(super) const CONDITIONS: &str = "
    should, would, could, may, might, must, will, i'll, we'll, they'll, it'll, expect, expected, expects, once, if,
    until, till, when, whenever, unless, ensure, ensures, ensuring, make, makes, verify, verifies, verifying, whether,
    assuming, hopefully, probably, likely, presumably, appear, appears, seem, seems, let, let's, need, needs, want,
    wants, try, please, goal, plan, aim, require, requires, required, so-that, why, how, claim, claims, claimed, says";

/// Words that move a statement elsewhere, where they stand in its own clause: "before, tests passed", but not "after the fix, tests pass".
pub(super) const TIMES: &str = "to, after, before, because, previously, earlier, originally, where, while, for, as";

/// Words that deny success or limit it.
pub(super) const NEGATIONS: &str = "
    not, no, never, cannot, neither, nor, none, without, unable, fail, fails, failed, failing, failure, failures,
    broken, error, errors, except, only, most, some, few, many, several, half, other, others, just, almost, nearly,
    besides, apart, partially, individually, locally";

/// Bad things that a denial denies: `no errors`, `without warnings`, `0 failures`.
pub(super) const HARMS: &str = "
    error, errors, warning, warnings, failure, failures, failed, failing, regression, regressions, issue, issues,
    problem, problems, fail";

/// Words and pairs of words that admit a failure, or that something was not run.
pub(super) const ADMISSIONS: &str = "
    fail, fails, still failing, are failing, is failing, remain failing, still failed, pre-existing, preexisting,
    not run, didn't run, couldn't run, unable to, not been, were skipped, still broken";

/// Words with which a failure is told as mended.
pub(super) const MENDED: &str = "fixed, fix, fixes, resolved, longer, previously, used, would, if, instead, should";

/// The entries of a list.
pub(super) fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    // Long lists are written over several lines.
    list.split(',').map(str::trim)
}

/// Whether a list has an entry.
pub(super) fn lists(list: &'static str, text: &str) -> bool {
    entries(list).any(|entry| entry == text)
}
