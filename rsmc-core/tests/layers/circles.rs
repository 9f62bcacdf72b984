//! Circles of imports between the files of a crate.
//!
//! A file is a module. It imports another one if a path in it, of a `use` or inline, leads to an item that the other
//! one defines; re-exports are followed to where the item is. Imports between a module and its own parent or child are
//! not counted, nor are those of tests. Methods are no imports: only paths are seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use super::rust_files;

/// The names of a path, from the root of the crate on or relative.
type Names = Vec<String>;

/// A re-export: the name, `*` for all names, and the path behind it.
type Export = (String, Names);

/// A file of the crate.
#[derive(Default)]
struct Module {
    /// Its name in reports: the path below `src`.
    file: String,
    /// The names of its items.
    defined: BTreeSet<String>,
    /// The names of its re-exports.
    exports: Vec<Export>,
    /// The paths that it mentions, from the root of the crate on.
    mentioned: BTreeSet<Names>,
    /// The names of the child modules that are there in tests only.
    test_children: BTreeSet<String>,
}

/// The files of a crate, by the path of the module that each is.
pub(crate) struct Crate(BTreeMap<Names, Module>);

/// A circle: its files, and the imports among them, each with a path that makes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    pub(crate) files: Vec<String>,
    pub(crate) edges: Vec<String>,
}

/// Whether the item is there in tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        is_cfg && tokens.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test") && !tokens.contains("not")
    })
}

/// The module that a file below `src` is.
fn module_of(file: &str) -> Names {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The names that a `use` brings, each with its path.
fn brought(tree: &UseTree, path: &mut Names, found: &mut Vec<Export>) {
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            brought(&inner.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => found.push((path.last().cloned().unwrap(), path.clone())),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            found.push((name.clone(), path.iter().cloned().chain([name]).collect()));
        }
        UseTree::Rename(rename) => {
            let target = path.iter().cloned().chain([rename.ident.to_string()]).collect();
            found.push((rename.rename.to_string(), target));
        }
        UseTree::Glob(_) => found.push(("*".to_owned(), path.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| brought(tree, path, found)),
    }
}

/// Reads one file.
struct Reader {
    /// The module that is read: that of the file, or an inline one in it.
    here: Names,
    /// The names that `use` items of the file bring, with their paths.
    brought: BTreeMap<String, Names>,
    /// The names of child modules.
    children: BTreeSet<String>,
    /// The number of inline modules around what is read.
    depth: usize,
    module: Module,
}

impl Reader {
    /// The path from the root of the crate on; nothing for a path into another crate, or to a name of the file itself.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some(self.here.iter().chain(rest).cloned().collect()),
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                let above = self.here.len().checked_sub(supers)?;
                Some(self.here[..above].iter().chain(&path[supers..]).cloned().collect())
            }
            name if self.children.contains(name) => Some(self.here.iter().chain(path).cloned().collect()),
            name => self.brought.get(name).map(|target| target.iter().chain(rest).cloned().collect()),
        }
    }

    fn mention(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.module.mentioned.extend(self.absolute(path));
        }
    }

    fn read_use(&mut self, item: &syn::ItemUse) {
        let mut found = Vec::new();
        brought(&item.tree, &mut Vec::new(), &mut found);
        for (name, path) in found {
            let Some(target) = self.absolute(&path) else { continue };
            self.module.mentioned.insert(target.clone());
            if self.depth == 0 && !matches!(item.vis, Visibility::Inherited) {
                self.module.exports.push((name.clone(), target.clone()));
            }
            self.brought.insert(name, target);
        }
    }

    /// Finds paths in the tokens of a macro, whose grammar is not known.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Vec::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 || path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.mention(&path);
                    path = vec![name.to_string()];
                    colons = 0;
                    continue;
                }
                TokenTree::Group(group) => self.read_tokens(group.stream()),
                _ => {}
            }
            self.mention(&std::mem::take(&mut path));
            colons = 0;
        }
        self.mention(&path);
    }
}

/// The name of an item that others can import, and its attributes.
fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes_of(item)) {
            if let Item::Mod(item) = item {
                self.module.test_children.insert(item.ident.to_string());
            }
            return;
        }
        if self.depth == 0 {
            self.module.defined.extend(name_of(item));
        }
        match item {
            Item::Use(item) => self.read_use(item),
            Item::Mod(item) if item.content.is_some() => {
                self.here.push(item.ident.to_string());
                self.depth += 1;
                visit::visit_item_mod(self, item);
                self.depth -= 1;
                self.here.pop();
            }
            item => visit::visit_item(self, item),
        }
    }

    /// The path of a visibility is no import.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.mention(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.read_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

/// Reads the text of a file.
fn read(file: &str, text: &str) -> Module {
    let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let here = module_of(file);
    let module = Module { file: file.to_owned(), ..Module::default() };
    let mut reader = Reader { here, brought: BTreeMap::new(), children: BTreeSet::new(), depth: 0, module };
    let children = parsed.items.iter().filter_map(|item| match item {
        Item::Mod(item) => Some(item.ident.to_string()),
        _ => None,
    });
    reader.children = children.collect();
    // Names may be used above the `use` that brings them.
    parsed.items.iter().for_each(|item| {
        if let Item::Use(item) = item {
            reader.read_use(item);
        }
    });
    reader.module.exports.clear();
    reader.visit_file(&parsed);
    reader.module
}

impl Crate {
    /// The crate whose files are in this folder.
    pub(crate) fn at(source: &Path) -> Self {
        let mut files = Vec::new();
        rust_files(source, &mut files);
        let texts = files.iter().map(|file| {
            let name = file.strip_prefix(source).unwrap().to_str().unwrap().replace('\\', "/");
            (name, fs::read_to_string(file).unwrap())
        });
        Self::of(texts)
    }

    /// A crate of these files, each with its path below `src` and its text.
    fn of(files: impl Iterator<Item = (String, String)>) -> Self {
        let modules: BTreeMap<Names, Module> =
            files.map(|(file, text)| (module_of(&file), read(&file, &text))).collect();
        let is_test = |path: &Names| {
            (1..=path.len()).any(|end| {
                let parent = modules.get(&path[..end - 1]);
                parent.is_some_and(|parent| parent.test_children.contains(&path[end - 1]))
            })
        };
        let tests: BTreeSet<Names> = modules.keys().filter(|path| is_test(path)).cloned().collect();
        Self(modules.into_iter().filter(|(path, _)| !tests.contains(path)).collect())
    }

    /// The module that defines what a path leads to.
    fn resolve(&self, path: &[String], depth: usize) -> Option<&Names> {
        let (end, (module_path, module)) =
            (0..=path.len()).rev().find_map(|end| Some((end, self.0.get_key_value(&path[..end])?)))?;
        let Some((name, rest)) = path[end..].split_first() else { return Some(module_path) };
        if depth == 0 || module.defined.contains(name) {
            return Some(module_path);
        }
        let named = module.exports.iter().find(|(exported, _)| exported == name);
        if let Some((_, target)) = named {
            let target: Names = target.iter().chain(rest).cloned().collect();
            return self.resolve(&target, depth - 1);
        }
        let behind_all = module.exports.iter().filter(|(exported, _)| exported == "*");
        let behind = behind_all.filter_map(|(_, target)| self.0.get_key_value(target));
        let defines = behind.into_iter().find(|(_, other)| other.defined.contains(name));
        Some(defines.map_or(module_path, |(path, _)| path))
    }

    /// Every import of a file by another one that is neither its parent nor its child, with a path that makes it.
    fn edges(&self) -> BTreeMap<(&Names, &Names), String> {
        let mut edges = BTreeMap::new();
        for (from, module) in &self.0 {
            for path in &module.mentioned {
                let Some(to) = self.resolve(path, 8) else { continue };
                let is_child =
                    |above: &Names, below: &Names| below.split_last().is_some_and(|(_, rest)| rest == *above);
                if from != to && !is_child(from, to) && !is_child(to, from) {
                    edges.entry((from, to)).or_insert_with(|| path.join("::"));
                }
            }
        }
        edges
    }

    /// The circles: files of which each leads to every other by imports.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        let edges = self.edges();
        let mut next: BTreeMap<&Names, Vec<&Names>> = BTreeMap::new();
        edges.keys().for_each(|(from, to)| next.entry(*from).or_default().push(*to));
        let reached = |from: &Names| {
            let mut reached = BTreeSet::new();
            let mut open = next.get(from).cloned().unwrap_or_default();
            while let Some(at) = open.pop() {
                if reached.insert(at) {
                    open.extend(next.get(at).into_iter().flatten());
                }
            }
            reached
        };
        let reached: BTreeMap<&Names, BTreeSet<&Names>> = self.0.keys().map(|from| (from, reached(from))).collect();
        let mut circles = Vec::new();
        let mut done = BTreeSet::new();
        for (from, to) in &reached {
            if !to.contains(from) || done.contains(from) {
                continue;
            }
            let members: BTreeSet<&Names> = to.iter().copied().filter(|other| reached[other].contains(from)).collect();
            let file = |path: &Names| self.0[path].file.clone();
            let inside = edges.iter().filter(|((from, to), _)| members.contains(from) && members.contains(to));
            let edges = inside.map(|((from, to), path)| format!("{} -> {} ({path})", file(from), file(to))).collect();
            circles.push(Circle { files: members.iter().map(|path| file(path)).collect(), edges });
            done.extend(members);
        }
        circles
    }
}

/// The circles of a made-up crate.
fn circles_of(files: &[(&str, &str)]) -> Vec<Circle> {
    Crate::of(files.iter().map(|&(file, text)| (file.to_owned(), text.to_owned()))).circles()
}

#[test]
fn a_circle_is_found() {
    let circles = circles_of(&[
        ("lib.rs", "pub mod a; pub mod b; mod c; mod d;"),
        // The item behind the re-export is in `a/inner.rs`.
        ("a/mod.rs", "mod inner; pub use inner::Inner;"),
        ("a/inner.rs", "use crate::c; pub struct Inner; fn f() { c::g() }"),
        ("b.rs", "use crate::a::Inner;"),
        ("c.rs", "pub fn g() { println!(\"{}\", crate::b::NUMBER) }"),
        ("d.rs", "use super::a::Inner; use std::fmt;"),
    ]);
    let [circle] = &circles[..] else { panic!("{circles:?}") };
    assert_eq!(circle.files, ["a/inner.rs", "b.rs", "c.rs"]);
    let edges = ["a/inner.rs -> c.rs (c)", "b.rs -> a/inner.rs (a::Inner)", "c.rs -> b.rs (b::NUMBER)"];
    assert_eq!(circle.edges, edges);
}

#[test]
fn parents_children_and_tests_make_no_circle() {
    let circles = circles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod inner; #[cfg(test)] mod oracle; pub fn f() { inner::g() }"),
        ("a/inner.rs", "pub fn g() { super::f() } #[cfg(test)] mod tests { use crate::b::h; }"),
        ("a/oracle.rs", "use crate::b::h;"),
        ("b.rs", "use crate::a::f; pub fn h() {}"),
    ]);
    assert_eq!(circles, []);
}
