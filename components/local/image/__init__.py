"""The machine image: what every local machine is made from."""
