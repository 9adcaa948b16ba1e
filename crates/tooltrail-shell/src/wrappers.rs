//! Wrappers: programs such as `sudo`, `timeout`, `npx` and `docker exec`, which run another command that a line is really about.

use crate::Map;
use crate::purpose_tables::listed;
use std::sync::LazyLock;

/// The most wrappers around one command that are taken off.
const MOST: usize = 8;

/// Wrappers: their own words, how many operands stand before the command, and the options that take the next word as their value.
const WRAPPERS: &[(&str, usize, &str)] = &[
    ("sudo", 0, "-u -g -h -p -C -r -t -T -U -D --user --group --chdir"),
    ("doas", 0, "-u -C"),
    ("env", 0, "-u -C --unset --chdir"),
    ("nice", 0, "-n --adjustment"),
    ("ionice", 0, "-c -n -p"),
    ("time", 0, "-f -o --format --output"),
    ("nohup", 0, ""),
    ("command", 0, ""),
    ("builtin", 0, ""),
    ("exec", 0, "-a"),
    ("setsid", 0, ""),
    ("stdbuf", 0, "-i -o -e"),
    ("unbuffer", 0, ""),
    ("chronic", 0, ""),
    ("winpty", 0, ""),
    // A proxy that shortens the output of the command behind it, which hooks put in front of commands.
    ("rtk proxy", 0, ""),
    ("rtk test", 0, ""),
    ("rtk err", 0, ""),
    ("rtk summary", 0, ""),
    ("rtk", 0, ""),
    ("arch", 0, ""),
    ("caffeinate", 0, "-t -w"),
    ("timeout", 1, "-s -k --signal --kill-after"),
    ("gtimeout", 1, "-s -k --signal --kill-after"),
    ("xargs", 0, "-n -P -I -L -d -a -s -E --max-args --max-procs --delimiter --arg-file"),
    ("npx", 0, "-p --package -w --workspace --prefix"),
    ("bunx", 0, "-p --package"),
    ("pnpx", 0, "-p --package"),
    ("uvx", 0, "--from --with -p --python --index"),
    ("corepack", 0, ""),
    ("dotenv", 0, "-e -f -v"),
    ("cross-env", 0, ""),
    ("xvfb-run", 0, "-n -s -w -e -f --server-num --server-args"),
    ("c8", 0, "-r --reporter"),
    ("nyc", 0, "-r --reporter"),
    ("strace", 0, "-o -e -p"),
    ("valgrind", 0, ""),
    (
        "uv run",
        0,
        "--with --with-requirements --extra --group --only-group --no-group --python -p --directory --project --env-file --package --index",
    ),
    ("uv tool run", 0, "--from --with -p --python"),
    ("pipx run", 0, "--spec --python"),
    ("poetry run", 0, "-C -P --directory --project"),
    ("pipenv run", 0, ""),
    ("pdm run", 0, "-p --project"),
    ("rye run", 0, "--pyproject"),
    ("conda run", 0, "-n --name -p --prefix --cwd"),
    ("mamba run", 0, "-n --name -p --prefix"),
    ("coverage run", 0, "--source --rcfile --data-file --omit --include"),
    ("bundle exec", 0, "--gemfile"),
    ("npm exec", 0, "-p --package -w --workspace --prefix -C"),
    ("npm x", 0, "-p --package -w --workspace --prefix -C"),
    ("pnpm exec", 0, "--filter -F -C --dir"),
    ("pnpm dlx", 0, "--package"),
    ("yarn dlx", 0, "-p --package"),
    ("yarn exec", 0, "--cwd"),
    ("bun x", 0, "-p --package --cwd"),
    ("mise exec", 0, "-C --cd"),
    ("mise x", 0, "-C --cd"),
    ("direnv exec", 1, ""),
    ("op run", 0, "--env-file"),
    ("doppler run", 0, "-p -c"),
    ("nix develop", 0, ""),
    ("docker exec", 1, "-e --env -u --user -w --workdir --env-file"),
    ("podman exec", 1, "-e --env -u --user -w --workdir --env-file"),
    ("docker compose exec", 1, "-f --file -p --project-name --profile --env-file -e --env -u --user -w --workdir --index"),
    (
        "docker compose run",
        1,
        "-f --file -p --project-name --profile --env-file -e --env -u --user -w --workdir -v --volume --name --entrypoint",
    ),
    ("docker-compose exec", 1, "-f --file -p --project-name -e --env -u --user -w --workdir --index"),
    ("docker-compose run", 1, "-f --file -p --project-name -e --env -u --user -w --workdir -v --volume --name --entrypoint"),
    (
        "docker run",
        1,
        "-e --env -u --user -w --workdir --env-file -v --volume --name -p --publish --network --net --mount --entrypoint --platform --cpus
         -m --memory -h --hostname -l --label --add-host --gpus --shm-size --ulimit --cap-add --security-opt --pull",
    ),
    ("kubectl exec", 1, "-n --namespace -c --container --context"),
];

/// The first words of [`WRAPPERS`]: most commands have none of them, and one lookup says so.
static WRAPPING: LazyLock<Map<&str, ()>> =
    LazyLock::new(|| WRAPPERS.iter().filter_map(|(wrapper, _, _)| Some((wrapper.split(' ').next()?, ()))).collect());

/// The name of a program without its directory, its ending and the version that a package runner was asked for.
pub(crate) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    // A shell takes the backslash out of `.\gradlew.bat`, and its directory becomes a part of the name.
    if let Some(script) = ["gradlew.bat", "mvnw.cmd"].iter().find(|script| name.ends_with(**script)) {
        return script.split('.').next().unwrap_or(script);
    }
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.split_once('@').map_or(name, |(before, _)| if before.is_empty() { name } else { before })
}

/// The words of the command behind all wrappers.
pub(crate) fn behind(words: &[String]) -> &[String] {
    let mut words = words;
    // Wrappers nest, as in `sudo timeout 9 npx jest`. The limit keeps a hostile line of thousands of them cheap.
    for _ in 0..MOST {
        let inner = behind_one(words).unwrap_or_default();
        // A wrapper without a command, such as `env` alone, is the command itself.
        if inner.is_empty() {
            break;
        }
        words = inner;
    }
    words
}

/// The words behind the first wrapper; `None` if there is none.
fn behind_one(words: &[String]) -> Option<&[String]> {
    let (first, rest) = words.split_first()?;
    let name = program(first);
    match (name, rest.first().map(String::as_str)) {
        // `command -v` looks a program up and runs nothing.
        ("command", Some("-v" | "-V")) => return None,
        ("py", _) | (_, Some("-m" | "-u" | "-B" | "-O" | "-I" | "-s" | "-E" | "-W" | "-X"))
            if name == "py" || name.starts_with("python") =>
        {
            return module(rest);
        }
        // One word behind it is a whole line: see `words::inner_script`.
        ("cmd", Some("/c" | "/C" | "//c" | "//C")) if rest.len() > 2 => return rest.get(1..),
        // `node node_modules/.bin/eslint` is about the tool, not about its interpreter.
        ("node" | "php" | "python" | "python3" | "ruby" | "bun", Some(path)) if is_tool(path) => return Some(rest),
        _ => {}
    }
    if !WRAPPING.contains_key(name) {
        return None;
    }
    let found = WRAPPERS.iter().filter(|(wrapper, _, _)| wrapper.split(' ').next() == Some(name));
    let mut behind = found.filter_map(|(wrapper, own, valued)| past(rest, wrapper.strip_prefix(name)?, *own, valued));
    let behind = behind.next()?;
    // Names of tools may stand before the command: `mise exec node@20 -- npm test`.
    let command = behind.iter().position(|word| word == "--").filter(|_| matches!(name, "mise" | "op" | "doppler"));
    command.map_or(Some(behind), |at| behind.get(at + 1..))
}

/// The words behind `-m` of Python, which may have options before it; `None` where it runs a file.
fn module(words: &[String]) -> Option<&[String]> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        match word.as_str() {
            "-m" => return words.get(at + 1..),
            "-c" => return None,
            "-W" | "-X" => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The words behind a wrapper's own words, its options, assignments and `own` operands; `None` if its own words are not there.
fn past<'w>(words: &'w [String], wrapper: &str, own: usize, valued: &str) -> Option<&'w [String]> {
    let mut wanted = wrapper.split_ascii_whitespace().peekable();
    let (mut own, mut at) = (own, 0);
    while let Some(word) = words.get(at) {
        if word == "--" && wanted.peek().is_none() {
            return words.get(at + 1..);
        }
        if word.starts_with('-') {
            at += if listed(valued, word) { 2 } else { 1 };
        } else if wanted.peek().is_some() {
            if wanted.next() != Some(word) {
                return None;
            }
            at += 1;
        } else if is_assignment(word) {
            at += 1;
        } else if own > 0 {
            own -= 1;
            at += 1;
        } else {
            break;
        }
    }
    if wanted.peek().is_some() { None } else { words.get(at..) }
}

/// Whether a word is an assignment: `NAME=value`.
pub(crate) fn is_assignment(word: &str) -> bool {
    let name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(before, _)| name(before))
}

/// Whether the path given to an interpreter is a tool with a name of its own.
fn is_tool(path: &str) -> bool {
    !path.starts_with('-')
        && (path.contains("/bin/") || path.contains(".bin/") || matches!(program(path), "manage.py" | "setup.py" | "artisan"))
}
