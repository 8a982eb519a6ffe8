"""One file per verb, under the verb's name."""
