"""Every setting: its declaration, its bounds, the config file and the values in force."""
