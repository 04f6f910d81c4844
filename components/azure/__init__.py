"""Machines on Azure: a subnet in a virtual network, a Standard load balancer, virtual machines.

Everything is in one resource group of ours; a virtual network that is there already stays in its
own. `facts` is what Azure is like, as data; `rules` is what it refuses.
"""
