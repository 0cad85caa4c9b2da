#!/usr/bin/env python3
"""Runs auditwheel without some libraries that manylinux assumes to be present on every desktop machine. Servers and
containers lack them, and the module would not load. They are added to the wheel like all others.

usage: repair_wheel.py ARGUMENTS_OF_AUDITWHEEL
"""
import sys

from auditwheel import policy
from auditwheel.main import main

NOT_EVERYWHERE = {"libX11.so.6", "libXext.so.6", "libXrender.so.1", "libICE.so.6", "libSM.so.6", "libGL.so.1",
                  "libgobject-2.0.so.0", "libgthread-2.0.so.0", "libglib-2.0.so.0", "libexpat.so.1"}


class BarePolicy(policy.Policy):
    """Leaves only the C and C++ runtimes and zlib to the target machine."""

    def __init__(self, *, whitelist, **rest):
        super().__init__(whitelist=frozenset(whitelist) - NOT_EVERYWHERE, **rest)


policy.Policy = BarePolicy
sys.exit(main())
