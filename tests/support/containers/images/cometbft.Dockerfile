# Stands in for cometbft/cometbft: the program that scripts/cometbft provides, where the official image has it.
FROM wayseal-test/debian-python:12
COPY cometbft /usr/bin/cometbft
