"""The local platform: machines are system containers on this computer's Docker engine.

`platform` and the modules beside it are the Pulumi half; `docker` is the half that makes
containers, which runs as a program of its own and so must not cost an import of pulumi.
"""
