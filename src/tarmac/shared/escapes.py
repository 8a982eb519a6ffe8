"""The escape sequences of terminals, as a pattern: colours, cursor movements, titles."""

ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
