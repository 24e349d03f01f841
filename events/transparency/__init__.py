"""The log of matches as others read, monitor and witness it, in the forms of C2SP."""
