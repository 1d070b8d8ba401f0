"""What can be done in the views of the machine and its pairs of GPUs."""

from __future__ import annotations

from ladder_tui.actions.action import Action, Need

HARDWARE_VIEW_ACTIONS: tuple[Action, ...] = (
    # Topology
    Action("topology.closer", ("enter",), "facts", "Show every fact of the row, with its source", "Hardware", "act",
           "topology", needs=Need.ROW, hinted=True),
    Action("topology.back", ("escape",), "back", "Go back to the whole machine", "Hardware", "back", "topology"),
    Action("topology.form", ("m",), "tree/matrix", "Draw the machine as a tree, or distances as a matrix",
           "Hardware", "form", "topology", needs=Need.ROW, hinted=True),
    Action("topology.host", ("h",), "host", "Show every fact of the host", "Hardware", "host", "topology",
           needs=Need.ROW, hinted=True),
    Action("topology.compare", ("o",), "compare", "Say what has changed since a baseline", "Hardware",
           "compare", "topology", needs=Need.ROW, hinted=True, opens=True),
    Action("topology.save", ("ctrl+s",), "save", "Keep what is so now as a baseline", "Hardware", "save",
           "topology", needs=Need.ROW, opens=True),
    Action("topology.again", ("v",), "read again", "Read the machine again", "Hardware", "again", "topology"),
    Action("topology.commands", ("t",), "for root", "Show what root can run, to tell what is unread", "Hardware",
           "commands", "topology", needs=Need.ROW),
    Action("topology.paste", ("i",), "paste", "Take the output of those commands from a file", "Hardware", "paste",
           "topology", needs=Need.ROW, opens=True),
    Action("topology.report", ("p",), "report", "Give one report for a ticket: pairs, topology, host, what changed",
           "Hardware", "report", "topology", needs=Need.ROW, opens=True),
    # Pairs of GPUs
    Action("matrix.start", ("t",), "test", "Test every pair of GPUs: seconds, nothing is changed", "Pairs of GPUs",
           "start('quick')", "matrix", hinted=True),
    Action("matrix.deep", ("T",), "deep", "Test every pair with all arms: sizes, handshake, IPC, NCCL",
           "Pairs of GPUs", "start('deep')", "matrix"),
    Action("matrix.soak", (), "soak", "Test every pair with all arms, then all pairs at once for a minute",
           "Pairs of GPUs", "start('soak')", "matrix"),
    Action("matrix.open", ("enter",), "evidence", "Show what each arm found on the pair", "Pairs of GPUs", "act",
           "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.again", ("v",), "again", "Test the pair under the cursor again", "Pairs of GPUs", "again",
           "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.evidence", ("i",), "facts", "Show every fact that the verdict leans on", "Pairs of GPUs",
           "evidence", "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.command", ("m",), "command", "Copy the command that helps now", "Pairs of GPUs",
           "copy_command", "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.report", ("p",), "report", "Give one report for a ticket: pairs, topology, host, what changed",
           "Pairs of GPUs", "report", "matrix", needs=Need.ROW, opens=True),
    Action("matrix.back", ("escape",), "back", "Go back to the matrix; stop a sweep that is at work",
           "Pairs of GPUs", "back", "matrix"),
)  # fmt: skip
