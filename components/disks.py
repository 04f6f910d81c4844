"""How big the disks of a cloud's machine are where the config says nothing, in GB."""

ROOT_GB = 30
ETCD_GB = 10
BASTION_GB = 10  # the least that Google has; Ubuntu's image has 8
