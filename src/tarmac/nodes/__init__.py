"""The controller's side of every machine that runs jobs: one session per agent, gathered in a fleet."""
