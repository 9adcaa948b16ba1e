//! A browser of our own for the length of a test.

use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// ChromeDriver, which ends with the test.
struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    fn start() -> Self {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("no ChromeDriver; `cargo xtask test` installs it, or install the packages chromium and chromium-driver");
        let output = BufReader::new(process.stdout.take().expect("its output is piped"));
        let said = |line: String| line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok();
        let port = output.lines().map_while(Result::ok).find_map(said).expect("ChromeDriver says its port when it has started");
        Driver { process, port }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a test in a browser with an empty profile. A device of `width` columns of pixels, dark or light.
pub(crate) fn with_browser<F: Future<Output = ()>>(test: impl FnOnce(Client) -> F) {
    let driver = Driver::start();
    let profile = tempfile::tempdir().expect("a directory for the profile");
    let arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,900",
        &format!("--user-data-dir={}", profile.path().display()),
    ];
    let mut wanted = Capabilities::new();
    wanted.insert("goog:chromeOptions".to_owned(), serde_json::json!({ "args": arguments }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let connector = hyper_util::client::legacy::connect::HttpConnector::new();
        let address = format!("http://127.0.0.1:{}", driver.port);
        let client = ClientBuilder::new(connector).capabilities(wanted).connect(&address).await.expect("a browser starts");
        test(client.clone()).await;
        client.close().await.expect("the browser ends");
    });
}

/// The address of a file.
pub(crate) fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Runs the program.
pub(crate) fn tooltrail(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A value that a script in the page gives.
pub(crate) async fn ask(client: &Client, script: &str) -> serde_json::Value {
    client.execute(script, Vec::new()).await.expect("the script runs")
}
