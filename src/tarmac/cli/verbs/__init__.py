"""One verb, one file, under the name that is typed."""
