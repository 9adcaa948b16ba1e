//! Logs that change in any way, while a catalogue beside them is made anew or not: what is told is what the logs say.

use crate::scene::*;
use crate::support::demo;
use proptest::prelude::*;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_catalog::watch::WatchOptions;
use tooltrail_formats::find;

/// Something that happens to the logs. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Edit {
    Append(usize, usize),
    Half(usize, usize),
    Truncate(usize, u8),
    Replace(usize, usize),
    Rewrite(usize, usize),
    Rename(usize, u8),
    Delete(usize),
    Add(usize, u8),
    Side(usize, usize),
    Title(usize, u8),
    /// Another process makes the catalogue say what the logs say.
    Refresh,
    /// Wait until everything has been told.
    Settle,
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<usize>;
    prop_oneof![
        4 => (which(), which()).prop_map(|(file, line)| Edit::Append(file, line)),
        2 => (which(), which()).prop_map(|(file, line)| Edit::Half(file, line)),
        1 => (which(), any::<u8>()).prop_map(|(file, part)| Edit::Truncate(file, part)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Replace(file, with)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Rewrite(file, with)),
        1 => (which(), any::<u8>()).prop_map(|(file, name)| Edit::Rename(file, name)),
        1 => which().prop_map(Edit::Delete),
        2 => (which(), any::<u8>()).prop_map(|(with, name)| Edit::Add(with, name)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Side(file, with)),
        1 => (which(), any::<u8>()).prop_map(|(file, title)| Edit::Title(file, title)),
        2 => Just(Edit::Refresh),
        4 => Just(Edit::Settle),
    ]
}

/// The contents that logs are made of.
fn pool() -> Vec<Vec<u8>> {
    find::in_paths(&[demo()]).files.iter().map(|found| fs::read(&found.path).unwrap()).collect()
}

fn pick<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

fn line(pool: &[Vec<u8>], number: usize) -> &[u8] {
    let lines: Vec<&[u8]> = pick(pool, number).unwrap().split_inclusive(|&byte| byte == b'\n').collect();
    pick(&lines, number / 7).unwrap()
}

fn apply(edit: &Edit, scene: &Scene, pool: &[Vec<u8>]) {
    let files: Vec<PathBuf> = find::in_paths(&[scene.home.path().to_owned()]).files.into_iter().map(|found| found.path).collect();
    let file = |number: &usize| pick(&files, *number);
    let add = |path: &Path, bytes: &[u8]| {
        OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
    };
    match edit {
        Edit::Append(number, with) => file(number).into_iter().for_each(|path| add(path, line(pool, *with))),
        Edit::Half(number, with) => {
            let line = line(pool, *with);
            file(number).into_iter().for_each(|path| add(path, &line[..with % line.len()]));
        }
        Edit::Truncate(number, part) => {
            let Some(path) = file(number) else { return };
            let length = fs::metadata(path).unwrap().len();
            File::options().write(true).open(path).unwrap().set_len(length * u64::from(*part) / 256).unwrap();
        }
        Edit::Replace(number, with) => {
            let (Some(path), Some(content)) = (file(number), pick(pool, *with)) else { return };
            fs::write(path.with_extension("new"), content).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }
        Edit::Rewrite(number, with) => file(number).into_iter().for_each(|path| fs::write(path, pick(pool, *with).unwrap()).unwrap()),
        Edit::Rename(number, name) => {
            let target = scene.log(&format!("moved/{name}.jsonl"));
            file(number).into_iter().for_each(|path| fs::rename(path, &target).unwrap());
        }
        Edit::Delete(number) => file(number).into_iter().for_each(|path| fs::remove_file(path).unwrap()),
        Edit::Add(with, name) => fs::write(scene.log(&format!("added/{name}.jsonl")), pick(pool, *with).unwrap()).unwrap(),
        Edit::Side(number, with) => {
            let Some(path) = file(number) else { return };
            let side = path.with_extension("").join("subagents");
            fs::create_dir_all(&side).unwrap();
            fs::write(side.join(format!("agent-a{}.jsonl", with % 5)), pick(pool, *with).unwrap()).unwrap();
        }
        Edit::Title(number, title) => {
            let Some(path) = file(number) else { return };
            fs::create_dir_all(path.with_extension("")).unwrap();
            fs::write(path.with_extension("").join("custom-title.json"), format!("{{\"customTitle\":\"t{title}\"}}")).unwrap();
        }
        Edit::Refresh => scene.refresh(),
        Edit::Settle => {}
    }
    // Two changes in one tick of the file system's clock cannot be told apart by anybody.
    std::thread::sleep(Duration::from_millis(12));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_is_told(
        before in prop::collection::vec(edit(), 0..4),
        edits in prop::collection::vec(edit(), 1..14),
        events in any::<bool>(),
        seed in any::<bool>(),
    ) {
        let options = WatchOptions { events, ..quick() };
        let scene = Scene::new(if seed { seeded(options) } else { options });
        let pool = pool();
        (0..pool.len()).step_by(4).for_each(|number| apply(&Edit::Add(number, u8::try_from(number).unwrap()), &scene, &pool));
        if seed {
            scene.refresh();
        }
        // The catalogue may be older than the logs.
        before.iter().for_each(|edit| apply(edit, &scene, &pool));
        let mut mirror = Mirror::as_it_is(&scene);
        for edit in &edits {
            apply(edit, &scene, &pool);
            if matches!(edit, Edit::Settle) {
                mirror.catch_up(&scene, "in between");
            }
        }
        mirror.catch_up(&scene, "at the end");
    }
}
