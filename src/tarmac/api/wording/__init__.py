"""The only room that forms sentences for people: reasons, refusals, warnings and times."""
