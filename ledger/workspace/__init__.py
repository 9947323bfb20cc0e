"""The project folder: finding it, its git tree id, and the small files under ``.memprove/``."""
