"""The controller of another machine, over the user's own `ssh`. Loaded only with `-H` or TARMAC_HOST."""
