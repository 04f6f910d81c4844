"""Every kind of bad input, by the name of its test."""
