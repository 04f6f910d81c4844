"""A folder that any web server can serve as image registry and file server of a release."""

from airgap.mirror.assemble import CATALOG, build, folder, is_ready

__all__ = ["CATALOG", "build", "folder", "is_ready"]
