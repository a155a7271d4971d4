"""The certificate of a trip: a signed PDF with verdict, map, chart and findings, for people."""
