"""The log of matches as others read it, in the forms of C2SP, and the witnesses who cosign it."""
