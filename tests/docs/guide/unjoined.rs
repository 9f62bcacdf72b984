use rsmc_shim::sync::{Arc, Mutex};
use rsmc_shim::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn both_names_are_listed() {
    let list = Arc::new(Mutex::new(vec!["main"]));
    let other = Arc::clone(&list);
    thread::spawn(move || other.lock().unwrap().push("other"));
    assert_eq!(list.lock().unwrap().len(), 2);
}
