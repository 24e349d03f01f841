"""Benchmarks: the speed of each part beside a known reference that is measured in the same run."""
