"""Charts: one look for all, each as SVG and PNG."""
