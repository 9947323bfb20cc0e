"""Try the real wiring of clients: start what their files name, and look at those files."""
