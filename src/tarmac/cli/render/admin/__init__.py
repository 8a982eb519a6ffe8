"""What admins look at: reports, reservations, settings and the targets of notifications."""
