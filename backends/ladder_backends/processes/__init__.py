"""Running processes, as the kernel tells of them: which there are, what they use, and who may attach to them."""

from ladder_backends.processes.listing import ProcessList
from ladder_backends.processes.obstacles import Obstacle, ObstacleKind, obstacle_after, obstacle_before
from ladder_backends.processes.proc_files import ProcFiles

__all__ = ["Obstacle", "ObstacleKind", "ProcFiles", "ProcessList", "obstacle_after", "obstacle_before"]
