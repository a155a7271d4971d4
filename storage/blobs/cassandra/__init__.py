"""Adapter: BlobStore in a Cassandra cluster that all sites share."""
