"""Google Compute Engine: machines in a network of ours, or in one that is there already.

One regional subnet, firewall rules by network tags, and a regional passthrough load balancer before
the API servers. `facts` is what the cloud is like, as data; `rules` is what it refuses.
"""
