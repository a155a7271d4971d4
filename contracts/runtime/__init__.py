"""What every process of Wayseal shares: durable files, SQLite, HTTP serving, commands."""
