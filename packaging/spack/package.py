"""Spack's recipe for the parts of Quartz that need no Node.js: sampler, pthread layer and thread package.

Put it into a repository of recipes as packages/quartz_profiler/package.py. Its source is the tarball that
scripts/packages.sh makes; where that lies is said by the `url` below, or by a mirror:

    spack mirror add quartz file:///path/to/mirror    # with quartz-profiler/quartz-profiler-0.1.0.tar.xz
"""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class QuartzProfiler(CMakePackage):
    """A profiler for parallel programs: which procedures, locks and threads cost elapsed time."""

    homepage = "file:///opt/quartz"
    url = "file:///opt/quartz/quartz-profiler-0.1.0-source.tar.xz"

    # The checksum of the tarball that you made: spack checksum quartz-profiler 0.1.0
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils@0.171:")
    depends_on("binutils+libiberty", when="+rust", type="build")

    variant("rust", default=False, description="Readable names of Rust's procedures (libiberty)")

    requires("platform=linux")

    def cmake_args(self):
        # Tests, examples and benchmarks are for those who change Quartz.
        return [self.define("QUARTZ_PACKAGE", True)]
