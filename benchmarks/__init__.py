"""Benchmarks: figures that the documentation prints are made here."""
