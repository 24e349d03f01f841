"""A simulated year: matches of many people in virtual time, on the real code, and an audit of everything."""
