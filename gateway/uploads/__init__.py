"""Uploads under way: announced, resumed, poured once into the store, ended or started over."""
