"""Resource plugins for `tls` and `command` in Python, for places where the official ones cannot be had.

Type tokens, inputs, outputs, secrets, diffs and replacements are those of the official plugins, so a
program and its state move between the two. The engine starts `python -m airgap.plugins NAME ADDRESS`.
Of the official plugins' functions and deprecated types nothing is here: the program uses none.
"""
