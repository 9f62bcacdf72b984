//! The same future under tokio, as an ordinary test, and in a check.

use rsmc_recipes::Event;
use rsmc_shim::future::block_on;
use rsmc_shim::sync::Arc;
use rsmc_shim::thread;

#[tokio::test]
async fn under_tokio() {
    let event = Arc::new(Event::default());
    let other = Arc::clone(&event);
    let task = tokio::spawn(async move { other.wait().await });
    event.happen();
    task.await.unwrap();
}

#[rsmc::test]
fn in_every_execution() {
    let event = Event::default();
    thread::scope(|scope| {
        scope.spawn(|| event.happen());
        block_on(event.wait());
    });
}
