"""Why jobs wait, from the functions that decide."""
