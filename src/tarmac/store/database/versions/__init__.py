"""The migration steps of the database, one for each released version. A released step is never edited."""
