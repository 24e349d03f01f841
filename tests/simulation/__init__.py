"""A simulated year: many matches of many people in virtual time, over the real code paths, and an audit of it all."""
