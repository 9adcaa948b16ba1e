//! The command line. Each command is a file in `commands/`; shared code is beside this file.
//!
//! Only this crate looks at the environment, the clock and the terminal, and only this crate prints.

mod browser;
mod catalogue;
mod changes;
mod cli;
mod commands;
mod demo;
mod directories;
mod filling;
mod filters;
mod keeping;
mod logging;
mod logs;
mod machine;
mod out;
mod output_file;
mod pager;
mod private_directory;
mod progress;
mod refs;
mod restoring;
mod running;
mod scratch;
mod screen;
mod server_client;
mod server_files;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::parse();
    let started = logging::start(cli.log.as_ref());
    match started.and_then(|()| commands::run(&cli)) {
        Ok(code) => code,
        // A closed pipe is not a failure: `head` or a pager has read enough.
        Err(error) if out::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::complain(&error);
            // A damaged catalogue is only a cache: it is deleted here, and the next run builds it again.
            if error.chain().filter_map(|cause| cause.downcast_ref::<tooltrail_catalog::store::CatalogueError>()).any(|cause| cause.heal())
            {
                out::remark(&"the catalogue has been removed, and is made again from the logs; run the command once more");
            }
            ExitCode::from(2)
        }
    }
}
