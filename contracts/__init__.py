"""What every party agrees on: records, encodings, keys, rules, ledger and evidence."""
