"""Machines on AWS: a VPC, an NLB for the API, an EC2 instance for each host.

`platform` puts the parts together, `rules` judges a config without loading the SDK, `facts` has
what AWS is like, as data.
"""
