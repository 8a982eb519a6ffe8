"""One file per verb, under the verb's name, in the room that `cli.main.ROOMS` lists it in."""
