"""The metal platform: hosts that exist already. Nothing is made, and no SDK is loaded.

`inventories` reads the hosts from files of other tools, `completion` fills in what follows from
the hosts, `rules` judges; `platform` and the modules beside it hand the hosts to phase 2.
"""
