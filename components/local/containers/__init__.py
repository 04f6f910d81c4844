"""Networks, machines, load balancer and mirror as Docker objects: plain Python over the docker CLI."""
