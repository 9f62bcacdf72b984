use rsmc_shim::sync::{Arc, Mutex};
use rsmc_shim::thread;

#[cfg_attr(any(), rsmc::test(check_joins = true))]
pub(crate) fn the_list_is_not_empty() {
    let list = Arc::new(Mutex::new(vec!["main"]));
    let other = Arc::clone(&list);
    thread::spawn(move || other.lock().unwrap().push("other"));
    assert!(!list.lock().unwrap().is_empty());
}
