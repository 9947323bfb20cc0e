"""Cases for go test, cargo test, cargo nextest and ctest."""
from capture.corpus.case import Case

GO: dict[str, Case] = {}
CARGO: dict[str, Case] = {}
NEXTEST: dict[str, Case] = {}
CTEST: dict[str, Case] = {}
