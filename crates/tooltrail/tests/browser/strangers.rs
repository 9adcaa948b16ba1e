//! The server against strangers: logs that attack whoever reads them, names that pretend to be this machine, pages that ask from
//! elsewhere. On the way every link is followed, so that none leads nowhere.

use crate::driver::{Browser, address, with_browser};
use crate::hostile::logs;
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::TcpListener;

/// What must hold in every page of the server, whatever was in the logs.
const INNOCENT: &str = "
    for (const details of document.querySelectorAll('details')) details.open = true;
    const bad = [];
    const ours = (address) => /^([#?]|\\/(?!\\/))/.test(address);
    if (window.pwned !== undefined) bad.push('a script ran: ' + window.pwned);
    for (const link of document.querySelectorAll('a[href], area[href]'))
        if (!ours(link.getAttribute('href')) && !/^(https?:|mailto:)/.test(link.getAttribute('href'))) bad.push('link ' + link.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('[src], link[href]')) {
        const from = element.getAttribute('src') ?? element.getAttribute('href');
        if (!/^\\/assets\\/[a-z]+-[0-9a-f]{16}\\.(js|css)$/.test(from) && !/^data:(image\\/(png|jpeg|gif|webp);base64)?,/.test(from)) bad.push('source ' + element.outerHTML.slice(0, 200));
    }
    for (const form of document.querySelectorAll('form')) if (form.method !== 'get' || !ours(form.getAttribute('action'))) bad.push('form ' + form.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('iframe, object, embed, base, video, audio, style')) bad.push('element ' + element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('*'))
        for (const name of element.getAttributeNames()) if (name.startsWith('on')) bad.push('handler ' + element.outerHTML.slice(0, 200));
    for (const script of document.scripts) if (script.text) bad.push('script ' + script.text.slice(0, 200));
    for (const entry of performance.getEntriesByType('resource')) if (!entry.name.startsWith(location.origin + '/')) bad.push('request ' + entry.name);
    return bad;";

/// The pages that a page leads to, without what stands behind their `#`.
const LINKS: &str = "return [...new Set([...document.querySelectorAll('a[href]')].map((link) => link.href).filter((href) => href.startsWith(location.origin + '/')).map((href) => href.split('#')[0]))]";

/// What the pages answered that are not opened here: their number, and what is wrong.
const ANSWERS: &str = "
    const [links, done] = arguments;
    Promise.all(links.map(async (link) => [link, (await fetch(link)).status])).then(done, (error) => done([['fetch', String(error)]]));";

/// Whether a page is opened, rather than only asked for.
fn opens(link: &str) -> bool {
    let path = link.split('?').next().unwrap_or(link);
    ![".md", ".json", ".html", ".patch", ".pr"].iter().any(|end| path.ends_with(end))
}

/// Goes where links lead within a site, and looks at every page. At most so many are opened.
async fn everywhere(browser: &Browser, from: &[String], site: &str, most: usize) -> BTreeSet<String> {
    let (mut known, mut opened) = (BTreeSet::new(), 0);
    let mut waiting: VecDeque<String> = from.iter().cloned().collect();
    while let Some(page) = waiting.pop_front().filter(|_| opened < most) {
        opened += 1;
        browser.open(&page).await;
        let bad = browser.ask(INNOCENT).await;
        assert_eq!(bad, json!([]), "{page}");
        let links: Vec<Value> = browser.ask(LINKS).await.as_array().cloned().unwrap_or_default();
        let fresh: Vec<Value> = links.into_iter().filter(|link| link.as_str().is_some_and(|link| known.insert(link.to_owned()))).collect();
        let answers = browser.execute_async(ANSWERS, vec![Value::Array(fresh)]).await.expect("the pages answer");
        for answer in answers.as_array().into_iter().flatten() {
            assert_eq!(answer[1], json!(200), "{} from {page}", answer[0]);
            waiting.extend(answer[0].as_str().filter(|link| opens(link) && link.starts_with(site)).map(str::to_owned));
        }
    }
    known
}

#[test]
fn hostile_logs_do_nothing_on_the_server() {
    let home = tempfile::tempdir().expect("a directory");
    let folder = home.path().join(".claude/projects/-srv-evil");
    std::fs::create_dir_all(&folder).expect("a directory");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener that does not wait");
    logs(&folder, listener.local_addr().expect("its address").port());
    let server = Server::of(home.path());
    for page in ["/s/evil", "/s/evil/raw", "/search?q=OUTSIDE-THE-TREE", "/search?q=root:x:"] {
        let text = server.get(page);
        assert!(!text.contains("OUTSIDE-THE-TREE<") && !text.contains("root:x:0"), "{page}: a file outside the session was read");
    }
    with_browser(|browser| async move {
        let from = ["/", "/sessions", "/s/evil", "/search?q=pwned", "/search?q=tool:Bash"].map(|page| server.to(page));
        let known = everywhere(&browser, &from, &server.to("/"), 60).await;
        assert!(known.len() > 100, "only {} links", known.len());
        browser.is_quiet("hostile logs");
    });
    assert!(listener.accept().is_err(), "a page asked for something");
}

#[test]
fn no_link_of_the_demo_leads_nowhere() {
    let home = tempfile::tempdir().expect("a directory");
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        // Below a directory, so that a link which forgets that is noticed.
        let known = everywhere(&browser, &[server.to("/demo/")], &server.to("/demo/"), 60).await;
        assert!(known.len() > 150, "only {} links", known.len());
        let outside: Vec<&String> =
            known.iter().filter(|link| !link.starts_with(&server.to("/demo/")) && **link != server.to("/")).collect();
        assert!(outside.is_empty(), "{outside:?} lead out of the demo");
        browser.is_quiet("the demo");
    });
}

/// A page of somebody else, on another port of this machine.
fn stranger(asks: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = format!("http://127.0.0.1:{}/", listener.local_addr().expect("its address").port());
    let page = format!(
        "<!doctype html><title>stranger</title><script>
         window.got = [];
         const take = async (what, made) => {{ try {{ window.got.push([what, await made]); }} catch {{ window.got.push([what, 'refused']); }} }};
         const load = (tag, name) => new Promise((yes, no) => {{ const element = document.createElement(tag); element.onload = () => yes('loaded'); element.onerror = no; element[name] = '{asks}'; document.head.append(element); }});
         (async () => {{
           await take('fetch', fetch('{asks}').then((answer) => answer.text()));
           await take('no-cors', fetch('{asks}', {{ mode: 'no-cors' }}).then(async (answer) => 'opaque ' + (await answer.text()).length));
           await take('post', fetch('{asks}', {{ method: 'POST', body: 'x' }}).then((answer) => answer.text()));
           await take('script', load('script', 'src'));
           await take('image', load('img', 'src'));
           window.done = true;
         }})();
         </script>"
    );
    std::thread::spawn(move || {
        for mut visit in listener.incoming().flatten() {
            let _ = visit.read(&mut [0; 4096]);
            let _ = write!(
                visit,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    own
}

#[test]
fn names_and_pages_of_others_are_refused() {
    let server = Server::demo();
    with_browser(|browser| async move {
        // The name means this machine, so the request arrives; it is not answered.
        browser.goto("about:blank").await.expect("an empty page");
        browser.goto(&server.address.replace("127.0.0.1", "evil.example")).await.expect("an answer");
        let text = browser.ask("return document.body.innerText").await;
        assert!(text.as_str().is_some_and(|text| text.contains("does not name this machine") && !text.contains("Demo")), "{text}");
        assert_eq!(browser.ask("return fetch('/sessions').then((answer) => answer.status)").await, json!(403));
        // A page from another origin, be it on this machine, gets nothing to read and nothing to run.
        for path in ["/sessions", "/"] {
            browser.goto(&stranger(&server.to(path))).await.expect("the stranger's page");
            browser.until("return window.done === true").await;
            for got in browser.ask("return window.got").await.as_array().into_iter().flatten() {
                let said = got[1].as_str().unwrap_or_default();
                assert!(said == "refused" || said == "opaque 0", "{path}: {got}");
            }
        }
        // Nor does a file, and nobody can frame a page.
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("frame.html");
        std::fs::write(&file, format!("<!doctype html><iframe src='{}' onload='window.done = true'></iframe>", server.to("/")))
            .expect("a page");
        browser.goto(&address(&file)).await.expect("the page opens");
        browser.until("return window.done === true").await;
        browser.clone().enter_frame(0).await.expect("the frame");
        let text = browser.ask("return document.body.innerText").await;
        assert!(text.as_str().is_some_and(|text| !text.contains("Demo")), "{text}");
    });
}

/// The page of another site with a link.
fn linking(address: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = format!("http://evil.example:{}/", listener.local_addr().expect("its address").port());
    let page = format!("<!doctype html><title>link</title><a id=go href=\"{address}\">go</a>");
    std::thread::spawn(move || {
        for mut visit in listener.incoming().flatten() {
            let _ = visit.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", page.len());
            let _ = visit.write_all((head + &page).as_bytes());
        }
    });
    own
}

#[test]
fn a_browser_gets_in_with_a_code_and_not_without() {
    const IN: &str = "return location.pathname === '/' && location.search === '' && document.documentElement.dataset.ready === 'true'";
    let server = Server::listening();
    with_browser(|browser| async move {
        browser.goto(&server.to("/sessions")).await.expect("an answer");
        let text = browser.ask("return document.body.innerText").await;
        assert!(text.as_str().is_some_and(|text| text.contains("tooltrail open") && !text.contains("Demo")), "{text}");
        let address = server.open();
        // By a link of another site, as from a terminal in a browser: the new cookie has to be sent all the same.
        browser.goto(&linking(&address)).await.expect("the other page");
        browser.click("#go").await;
        browser.until(IN).await;
        assert_eq!(browser.ask("return document.cookie").await, json!(""), "scripts cannot read it");
        browser.open(&server.to("/sessions")).await;
        assert_eq!(browser.ask("return fetch('/now').then((answer) => answer.status)").await, json!(200));
        // Used up for others, and the way to the page for the browser that has the cookie.
        browser.goto(&address).await.expect("an answer");
        browser.until(IN).await;
        browser.delete_all_cookies().await.expect("cookies are deleted");
        browser.goto(&address).await.expect("an answer");
        let text = browser.ask("return document.body.innerText").await;
        assert!(text.as_str().is_some_and(|text| text.contains("has been used") && !text.contains("Demo")), "{text}");
    });
}
