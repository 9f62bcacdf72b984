//! The contents of a page, as lines that can be compared: its elements with classes and texts, without sizes, styles
//! and scripts.

/// Elements that stand in the line of what they are part of.
const INLINE: [&str; 16] = [
    "text", "tspan", "circle", "path", "rect", "b", "span", "dt", "dd", "th", "td", "button", "label", "svg", "input",
    "p",
];

/// The elements of a page in order, a line for each block, indented. Of a path only its class and what it connects is
/// kept, of the configuration only what is changed.
///
/// This is no HTML parser: it reads what the pages consist of, and panics where elements are not closed as they were
/// opened.
pub fn of(page: &str) -> String {
    let body = page.split_once("<body>").and_then(|(_, rest)| rest.split_once("</body>")).expect("a body").0;
    let (mut lines, mut open): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut rest = body;
    while let Some((text, after)) = rest.split_once('<') {
        add_text(&mut lines, text);
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "after {lines:#?}");
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name");
        let element = format!("{name}{}", attributes(tag));
        let is_inline = INLINE.contains(&name) && !element.contains([',', '→']) && !element.contains("svg .drawing");
        match lines.last_mut() {
            Some(line) if is_inline && !open.is_empty() => *line += &format!(" {element}"),
            _ => lines.push(format!("{}{element}", "  ".repeat(open.len()))),
        }
        if name == "script" {
            rest = &rest[rest.find("</script>").expect("an end")..];
        }
        if name != "input" && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    let said = |line: &&String| {
        !["defs", "marker", "tr th"].iter().any(|no| line.trim_start().starts_with(no)) || line.contains("created")
    };
    lines.iter().filter(said).map(|line| line.clone() + "\n").collect()
}

fn add_text(lines: &mut [String], text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let (false, Some(line)) = (text.is_empty(), lines.last_mut()) {
        line.push_str(&format!(" “{text}”"));
    }
}

/// Class, id, and what the script needs to know.
fn attributes(tag: &str) -> String {
    let value = |name: &str| Some(tag.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0);
    let class = value("class").map(|class| format!(" .{}", class.replace(' ', "."))).unwrap_or_default();
    let id = value("id").map(|id| format!(" #{id}")).unwrap_or_default();
    let edge = value("data-from").zip(value("data-to")).map(|(from, to)| format!(" {from}→{to}")).unwrap_or_default();
    let item = value("data-item").filter(|_| edge.is_empty()).map(|item| format!(" item {item}")).unwrap_or_default();
    let created = value("title").map(|title| format!(" ({title})")).unwrap_or_default();
    class + &id + &edge + &item + &created
}
