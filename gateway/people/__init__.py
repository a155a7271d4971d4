"""People: their passwords, their sessions in browsers, and how often strangers may try."""
