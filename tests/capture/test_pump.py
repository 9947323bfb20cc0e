import os
import threading

from memprove.ledger.capture.pump import Pump


class Failing:
    """An observer that fails at the second chunk."""

    def __init__(self) -> None:
        self.seen = b""

    def feed(self, chunk: memoryview) -> None:
        if self.seen:
            raise RuntimeError("a fault of the observer")
        self.seen += chunk


def test_a_failing_observer_does_not_stop_the_copy() -> None:
    (source, feed), (result, target), (ended, running) = os.pipe(), os.pipe(), os.pipe()
    over, observer = threading.Event(), Failing()
    pump = Pump(source, target, observer, ended=ended, done=over.set)
    pump.start()
    for part in (b"one", b"two", b"three"):
        os.write(feed, part)
        assert os.read(result, 10) == part
    os.close(feed)
    assert over.wait(30)
    assert observer.seen == b"one"
    assert isinstance(pump.fault, RuntimeError)
    assert not pump.held
    for descriptor in (result, target, ended, running):
        os.close(descriptor)


def test_a_pump_that_was_given_up_shows_nothing_more() -> None:
    (source, feed), (result, target), (ended, running) = os.pipe(), os.pipe(), os.pipe()
    over, observer = threading.Event(), Failing()
    pump = Pump(source, target, observer, ended=ended, done=over.set)
    pump.start()
    os.write(feed, b"one")
    assert os.read(result, 10) == b"one"
    pump.give_up()
    os.write(feed, b"two")
    assert over.wait(30)
    assert observer.seen == b"one"
    assert pump.fault is None
    for descriptor in (feed, result, target, ended, running):
        os.close(descriptor)
