"""Stand-ins for standard modules that would slow down every command."""
