"""Resource plugins for `tls` and `command`, for places where the official ones cannot be had.

Type tokens, inputs, outputs, secrets, diffs and replacements are those of the official plugins: a
program and its state can move between the two. The engine starts `python -m airgap.plugins NAME
ADDRESS`. Of the functions and deprecated types nothing is here, as the program uses none.
"""
