"""Building blocks that know no tool: views made of lines, bars, dialogs."""
