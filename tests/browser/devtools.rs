//! A headless Chromium, spoken to by the DevTools protocol through two pipes: no port, no network.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The longest time of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser, if there is one: the variable `CHROMIUM`, or a known name in `PATH`.
fn find() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        || std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file());
    std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(found)
}

/// A browser with one tab. It ends with this value.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    events: Vec<Value>,
    profile: PathBuf,
}

impl Browser {
    /// Starts one. Where there is none, the test is passed over and says so, unless `NEEDS_TOOLS` forbids it.
    pub fn start() -> Option<Self> {
        let Some(program) = find() else {
            assert!(std::env::var_os("NEEDS_TOOLS").is_none(), "there is no Chromium: install it, or set CHROMIUM");
            let _ = writeln!(std::io::stderr(), "NOT TESTED: there is no Chromium, so no page was opened");
            return None;
        };
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Relaxed);
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("profile-{}-{number}", std::process::id()));
        // The protocol is spoken at the descriptors 3 and 4, and the shell is what can put them there.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--force-device-scale-factor=1", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self { child, input, messages, session: None, calls: 0, events: Vec::new(), profile };
        let tab = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = Some(session["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and returns its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("the browser runs");
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens a page, in a window of this width, and waits until it is there.
    #[track_caller]
    pub fn open(&mut self, name: &str, page: &str, width: u32) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
        std::fs::write(&file, page).expect("the page can be written");
        let size = json!({"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.messages.recv_timeout(PATIENCE).expect("the page is loaded");
            self.events.push(event);
        }
        self.assert_quiet(name);
    }

    /// Asserts that nothing was complained about, and nothing fetched but the page, since the last time.
    #[track_caller]
    pub fn assert_quiet(&mut self, name: &str) {
        for event in std::mem::take(&mut self.events) {
            let loud = [
                "Runtime.exceptionThrown",
                "Runtime.consoleAPICalled",
                "Log.entryAdded",
                "Page.javascriptDialogOpening",
            ];
            assert!(!loud.iter().any(|method| event["method"] == *method), "{name}: {event}");
            if event["method"] == "Network.requestWillBeSent" {
                let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
                assert!(url.ends_with(&format!("/{name}.html")), "{name}: {event}");
            }
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Moves the mouse over the middle of an element, and clicks if asked to.
    pub fn point(&mut self, selector: &str, click: bool) {
        self.eval(&format!("document.querySelector('{selector}').scrollIntoView({{block: 'center'}})"));
        let [x, y] = self.middle(selector);
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
        for kind in ["mousePressed", "mouseReleased"].iter().filter(|_| click) {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// The middle of an element in the window.
    pub fn middle(&mut self, selector: &str) -> [f64; 2] {
        let place = self.eval(&format!(
            "(() => {{ const r = document.querySelector('{selector}').getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        [0, 1].map(|at| place[at].as_f64().expect("a place"))
    }

    /// The picture in the window.
    pub fn screenshot(&mut self) -> Picture {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = data_encoding::BASE64.decode(shot["data"].as_str().expect("text").as_bytes()).expect("base 64");
        Picture::decode(&bytes)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Pixels.
pub struct Picture {
    width: usize,
    channels: usize,
    bytes: Vec<u8>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a picture");
        let mut bytes = vec![0; reader.output_buffer_size().expect("it fits")];
        let info = reader.next_frame(&mut bytes).expect("a picture");
        Self { width: info.width as usize, channels: info.color_type.samples(), bytes }
    }

    /// Red, green, blue.
    pub fn at(&self, x: f64, y: f64) -> [u8; 3] {
        let first = (y as usize * self.width + x as usize) * self.channels;
        [0, 1, 2].map(|channel| self.bytes[first + channel])
    }
}
