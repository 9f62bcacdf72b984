//! Functions that are too long, and structs with too many fields.
//!
//! A function has as many lines as there are from `fn` to its closing brace. Tests are not counted.

use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Block, Signature};

use super::circles::is_test;
use super::rust_files;

/// No function has more lines.
pub(crate) const LONGEST_FUNCTION: usize = 60;

/// No struct has more fields.
pub(crate) const MOST_FIELDS: usize = 15;

/// A function that is too long, or a struct with too many fields: its file, its name, and its lines or fields.
pub(crate) type Large = (String, String, usize);

#[derive(Default)]
struct Reader {
    functions: Vec<(String, usize)>,
    structs: Vec<(String, usize)>,
}

impl Reader {
    fn function(&mut self, signature: &Signature, block: &Block) {
        let (first, last) = (signature.fn_token.span.start().line, block.brace_token.span.close().end().line);
        let lines = last - first + 1;
        if lines > LONGEST_FUNCTION {
            self.functions.push((signature.ident.to_string(), lines));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.fields.len() > MOST_FIELDS {
            self.structs.push((item.ident.to_string(), item.fields.len()));
        }
        visit::visit_item_struct(self, item);
    }
}

fn read(text: &str) -> Reader {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader
}

/// The functions and the structs of some folders that are too large. Files are named from `root` on.
pub(crate) fn large(root: &Path, folders: &[&str]) -> [Vec<Large>; 2] {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| rust_files(&root.join(folder), &mut files));
    let mut large = [Vec::new(), Vec::new()];
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let Reader { functions, structs } = read(&fs::read_to_string(&file).unwrap());
        for (all, found) in large.iter_mut().zip([functions, structs]) {
            all.extend(found.into_iter().map(|(item, size)| (name.clone(), item, size)));
        }
    }
    large
}

#[test]
fn what_is_too_large_is_found() {
    let lines = |count: usize| "    f();\n".repeat(count - 2);
    let long = |count| format!("impl A {{\nfn long() {{\n{}}}\n}}\n", lines(count));
    assert!(read(&long(LONGEST_FUNCTION)).functions.is_empty());
    assert_eq!(read(&long(LONGEST_FUNCTION + 1)).functions, [("long".to_owned(), LONGEST_FUNCTION + 1)]);
    let tests = format!("#[cfg(test)] mod tests {{ fn f() {{\n{}}} }}", lines(99));
    assert!(read(&tests).functions.is_empty());
    let wide =
        |fields: usize| format!("struct Wide {{ {} }}", (0..fields).map(|n| format!("f{n}: u8, ")).collect::<String>());
    assert!(read(&wide(MOST_FIELDS)).structs.is_empty());
    assert_eq!(read(&wide(MOST_FIELDS + 1)).structs, [("Wide".to_owned(), MOST_FIELDS + 1)]);
}
