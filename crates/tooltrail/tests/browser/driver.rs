//! A browser of our own for the length of a test.

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};
use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a page may take for what it was asked. Generous: nothing here is a measure of speed.
const PATIENCE: Duration = Duration::from_secs(20);

/// The key that leaves.
pub(crate) const ESCAPE: char = '\u{e00c}';
/// The key that opens.
pub(crate) const ENTER: char = '\u{e007}';
/// The key that is held with others.
pub(crate) const SHIFT: char = '\u{e008}';

/// ChromeDriver, which ends with the test.
struct Driver {
    process: Child,
    port: u16,
    session: Option<String>,
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
        Driver { process, port, session: None }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A test that failed has not closed its browser, and a browser outlives its driver.
        if let Some(session) = &self.session {
            let _ = request(self.port, "DELETE", &format!("/session/{session}"), "");
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A browser with an empty profile: the client of WebDriver, and what only Chromium has.
pub(crate) struct Browser {
    client: Client,
    port: u16,
    session: String,
}

impl Deref for Browser {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Runs a test in a browser with an empty profile.
pub(crate) fn with_browser<F: Future<Output = ()>>(test: impl FnOnce(Browser) -> F) {
    let mut driver = Driver::start();
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
        // A name of somebody else that means this machine, as an attacker would make it.
        "--host-resolver-rules=MAP evil.example 127.0.0.1",
        &format!("--user-data-dir={}", profile.path().display()),
    ];
    let mut wanted = Capabilities::new();
    wanted.insert("goog:chromeOptions".to_owned(), json!({ "args": arguments }));
    wanted.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let connector = hyper_util::client::legacy::connect::HttpConnector::new();
        let address = format!("http://127.0.0.1:{}", driver.port);
        let client = ClientBuilder::new(connector).capabilities(wanted).connect(&address).await.expect("a browser starts");
        let session = client.session_id().await.expect("the driver answers").expect("a session");
        driver.session = Some(session.clone());
        test(Browser { client, port: driver.port, session }).await;
    });
}

impl Browser {
    /// Opens a page of ours and waits until its script has begun.
    pub(crate) async fn open(&self, address: &str) {
        // From another page, so that an address with another fragment is loaded anew.
        self.goto("about:blank").await.expect("an empty page");
        self.goto(address).await.expect("the page opens");
        self.until("return document.documentElement.dataset.ready === 'true'").await;
    }

    /// A value that a script in the page gives.
    pub(crate) async fn ask(&self, script: &str) -> Value {
        ask(self, script).await
    }

    /// Waits until a script in the page says yes. What it asks about may not be there yet.
    pub(crate) async fn until(&self, script: &str) {
        let start = Instant::now();
        loop {
            let said = self.execute(script, Vec::new()).await.unwrap_or_else(|error| json!(error.to_string()));
            if said == json!(true) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "never came true, last {said}: {script}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) async fn press(&self, keys: &str) {
        self.loaded().await;
        let mut actions = KeyActions::new("keyboard".to_owned());
        for value in keys.chars() {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.perform_actions(actions).await.expect("keys are pressed");
    }

    /// Waits until the page listens to keys: where a link leads to may be on its way.
    async fn loaded(&self) {
        self.until("return document.readyState === 'complete'").await;
    }

    /// Presses a key while another one is held.
    pub(crate) async fn chord(&self, held: char, value: char) {
        self.loaded().await;
        let actions = KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value: held });
        let actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value }).then(KeyAction::Up { value: held });
        self.perform_actions(actions).await.expect("keys are pressed");
    }

    /// Presses a key and waits until a script in the page says yes.
    pub(crate) async fn press_until(&self, keys: impl Into<String>, script: &str) {
        self.press(&keys.into()).await;
        self.until(script).await;
    }

    /// Clicks the first element of a selector.
    pub(crate) async fn click(&self, selector: &str) {
        let element = self.find(Locator::Css(selector)).await.unwrap_or_else(|_| panic!("no {selector}"));
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// How many elements there are that can be seen.
    pub(crate) async fn seen(&self, selector: &str) -> u64 {
        let script = format!("return [...document.querySelectorAll({})].filter((one) => one.checkVisibility()).length", json!(selector));
        self.ask(&script).await.as_u64().expect("a number")
    }

    /// The colour of the page.
    pub(crate) async fn ground(&self) -> Value {
        self.ask("return getComputedStyle(document.body).backgroundColor").await
    }

    /// Nothing went wrong in the page that a developer would see.
    pub(crate) fn is_quiet(&self, what: &str) {
        let console = self.console();
        assert!(console.is_empty(), "{what}: {console:#?}");
    }

    /// A command of Chromium's own protocol.
    pub(crate) fn chromium(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Makes the page as wide as a device, narrower than any window.
    pub(crate) fn resize(&self, width: u32, height: u32, touch: bool) {
        let device = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch });
        self.chromium("Emulation.setDeviceMetricsOverride", &device);
    }

    /// What was written to the console since this was last asked; also what the page's policy forbade.
    pub(crate) fn console(&self) -> Vec<String> {
        let lines = self.post("se/log", &json!({ "type": "browser" }));
        let message = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
        lines.as_array().into_iter().flatten().map(message).collect()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        let mut answer = request(self.port, "POST", &path, &body.to_string()).expect("the driver answers");
        assert!(answer["value"]["error"].is_null(), "{command}: {answer}");
        answer["value"].take()
    }
}

/// One request to the driver, for what the client has no function. The driver keeps the connection, so the length counts.
fn request(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().unwrap_or_else(|_| panic!("{name}: {value}"));
        }
        line.clear();
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
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
pub(crate) async fn ask(client: &Client, script: &str) -> Value {
    client.execute(script, Vec::new()).await.expect("the script runs")
}
