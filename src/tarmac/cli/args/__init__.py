"""Options and words that several verbs take, and how they are read."""
