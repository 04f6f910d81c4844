"""Holds this program against others; never imported by it.

`python -m bench` runs it and kubeadm on the same hosts, one after the other, and prints how long
each took. `python -m bench.plugins` runs it with the official plugins and with ours, and says where
they differ. docs/bench.md says what is counted and compared.
"""


class BenchError(Exception):
    """Something that is measured failed; the message says what it said."""
