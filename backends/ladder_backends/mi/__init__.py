"""GDB's machine interface: records, their parser, the three terminals of an engine, and the session over them."""
