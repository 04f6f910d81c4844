"""Networks, machines, load balancer and mirror as Docker objects, by the docker CLI."""
