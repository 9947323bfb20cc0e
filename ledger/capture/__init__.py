"""Running a command and keeping what it wrote: streams, digests, blobs, test counts."""
