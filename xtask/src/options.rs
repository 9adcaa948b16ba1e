//! Reads `--name value` pairs.

use std::str::FromStr;

/// The options of one task.
pub(crate) struct TaskOptions(Vec<(String, String)>);

/// Reads `words`, which must be pairs of a name in `known` and a value.
pub(crate) fn read(words: &[String], known: &[&str]) -> Result<TaskOptions, String> {
    words
        .chunks(2)
        .map(|pair| {
            let name = known.iter().find(|name| **name == pair[0]);
            match (name, pair.get(1)) {
                (None, _) => Err(format!("no option `{}`; run `cargo xtask` to see them", pair[0])),
                (Some(name), None) => Err(format!("`{name}` needs a value after it")),
                (Some(_), Some(value)) => Ok((pair[0].clone(), value.clone())),
            }
        })
        .collect::<Result<_, _>>()
        .map(TaskOptions)
}

impl TaskOptions {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        // The last one wins, as in most command lines.
        let found = self.0.iter().rev().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn number<N: FromStr>(&self, name: &str, default: N) -> Result<N, String> {
        self.get(name).map_or(Ok(default), |text| text.parse().map_err(|_| format!("`{name} {text}`: give a whole number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<TaskOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read(&words, &["--size", "--rounds"])
    }

    #[test]
    fn the_last_value_counts() {
        let read = options("--size 1G --rounds 3 --size 2G").unwrap();
        assert_eq!(read.get("--size"), Some("2G"));
        assert_eq!(read.number("--rounds", 5), Ok(3));
    }

    #[test]
    fn wrong_words_are_named() {
        assert!(options("--sise 1G").is_err_and(|error| error.contains("--sise")));
        assert!(options("--size").is_err_and(|error| error.contains("value")));
        assert!(options("--rounds x").unwrap().number("--rounds", 1).is_err());
    }
}
