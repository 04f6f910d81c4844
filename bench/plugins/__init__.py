"""Runs one stack with the official command and tls plugins and with ours, and compares.

Official plugins cannot be had everywhere; `python -m bench.plugins` says so where it finds none.
"""
