"""Build hook: puts the JavaScript packages of the page into wheels and sdists. See tools/page_packages.py."""

import os
import sys

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools"))

import page_packages


class PagePackages(BuildHookInterface):
    def initialize(self, version, build_data):  # noqa: ARG002 - names that hatchling passes
        """Without access to the registry, the build continues: only the page needs the packages."""
        page_packages.main()
