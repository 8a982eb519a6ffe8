"""Jobs that are typed into forms: what a form has, its check, its submit, and forms of jobs that exist."""
