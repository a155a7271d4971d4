"""An engine makes the blocks: the two ports of every engine, and the parts that all share."""
